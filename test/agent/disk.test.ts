import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { resumeSession } from "@longhaul/sessions";
import { scriptedModel, textTurn, toolTurn } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { agentScene, eventsOf, ran, toolOf } from "./agent-scene.case.ts";

const uuids = (entries: readonly { readonly uuid?: string | undefined }[]) => entries.map(({ uuid }) => uuid);

/** A file stands where the folder is to be: nothing can be written, for root neither. */
async function blocked(folder: string): Promise<() => Promise<void>> {
  await mkdir(dirname(folder), { recursive: true });
  await writeFile(folder, "");
  return () => rm(folder);
}

describe("an agent whose session cannot be written", () => {
  it("goes on, says so, and writes everything when it can again", async () => {
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

  it("says once why, however many messages wait to be written", async () => {
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

  it("can change its model and its notes all the same, and a rewind that fails changes nothing", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(textTurn("One."));
    const agent = await scene.open({ tools: () => [] });
    const unblock = await blocked(dirname(agent.sessionPath));
    await ran(agent, "First.");
    const before = uuids(agent.conversation);

    await agent.setModel(scriptedModel(["Two.", "Three."], { name: "other" }));
    await agent.setNotes("built-in");
    expect(agent.model.name).toBe("other");
    expect(eventsOf(scene.idle, "problem")[0]?.error.code).toBe("transcript-failed");
    await expect(agent.rewind(before[0] ?? "")).rejects.toMatchObject({ code: "session-not-written" });
    expect(uuids(agent.conversation)).toEqual(before);
    await unblock();

    expect((await ran(agent, "Second.")).result.text).toBe("Two.");
    await agent.close();
    expect(uuids((await resumeSession(agent.sessionPath)).conversation)).toEqual(uuids(agent.conversation));
  });

  it("tells of a long result what fits, also where the whole has no place", async () => {
    await using scene = await agentScene({ windowTokens: 20_000 });
    scene.simulator.reply(toolTurn("long"), textTurn("Long."));
    const agent = await scene.open({ tools: () => [toolOf("long", () => "a long line\n".repeat(5_000))] });
    await blocked(agent.sessionPath.replace(/\.jsonl$/, ".outputs"));

    const { result } = await ran(agent, "Go.");

    expect(result.reason).toBe("answered");
    expect(JSON.stringify(agent.conversation)).toContain("the whole could not be written");
  });
});
