import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { resumeSession } from "@longhaul/sessions";
import { scriptedModel, textTurn, toolTurn } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { agentScene, eventsOf, ran, toolOf } from "./agent-scene.case.ts";

const uuids = (entries: readonly { readonly uuid?: string | undefined }[]) => entries.map(({ uuid }) => uuid);

/** Puts a file in the place of the folder. Then nobody can write to the folder, not even root. */
async function blocked(folder: string): Promise<() => Promise<void>> {
  await mkdir(dirname(folder), { recursive: true });
  await writeFile(folder, "");
  return () => rm(folder);
}

describe("an agent whose session cannot be written", () => {
  it("an agent continues when its session cannot be written, reports the failure, and writes everything later", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(toolTurn("quick"), textTurn("One."), textTurn("Two."));
    const agent = await scene.open({ tools: () => [toolOf("quick", () => "quick result")] });
    const unblock = await blocked(dirname(agent.sessionPath));

    const first = await ran(agent, "First.");
    expect(first.result.text).toBe("One.");
    expect(eventsOf(first.events, "problem")[0]?.error.code).toBe("session-not-written");
    await unblock();
    await ran(agent, "Second.");
    await agent.close();

    expect(uuids((await resumeSession(agent.sessionPath)).conversation)).toEqual(uuids(agent.conversation));
  });

  it("an agent reports only once why its session cannot be written, however many messages wait", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(toolTurn("quick"), toolTurn("quick"), textTurn("One."));
    const agent = await scene.open({ tools: () => [toolOf("quick", () => "quick result")] });
    const unblock = await blocked(dirname(agent.sessionPath));

    const { events } = await ran(agent, "First.");
    await unblock();
    await agent.close();

    const codes = eventsOf(events, "problem").map(({ error }) => error.code);
    expect(codes.filter((code) => code === "session-not-written")).toHaveLength(1);
  });

  it("model and notes can change while the session cannot be written, and a failed rewind changes nothing", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(textTurn("One."));
    const agent = await scene.open({ tools: () => [] });
    const unblock = await blocked(dirname(agent.sessionPath));
    await ran(agent, "First.");
    const before = uuids(agent.conversation);

    await agent.setModel(scriptedModel(["Two.", "Three."], { name: "other" }));
    await agent.setNotes("built-in");
    expect(agent.model.name).toBe("other");
    expect(eventsOf(scene.idle, "problem")[0]?.error.code).toBe("transcript-not-written");
    await expect(agent.rewind(before[0] ?? "")).rejects.toMatchObject({ code: "session-not-written" });
    expect(uuids(agent.conversation)).toEqual(before);
    await unblock();

    expect((await ran(agent, "Second.")).result.text).toBe("Two.");
    await agent.close();
    expect(uuids((await resumeSession(agent.sessionPath)).conversation)).toEqual(uuids(agent.conversation));
  });

  it("the model gets the part of a long result that fits when the full result cannot be stored", async () => {
    await using scene = await agentScene({ windowTokens: 20_000 });
    scene.simulator.reply(toolTurn("long"), textTurn("Long."));
    const agent = await scene.open({ tools: () => [toolOf("long", () => "a long line\n".repeat(5_000))] });
    await blocked(agent.sessionPath.replace(/\.jsonl$/, ".outputs"));

    const { result } = await ran(agent, "Go.");

    expect(result.reason).toBe("answered");
    expect(JSON.stringify(agent.conversation)).toContain("The whole result could not be saved");
  });
});
