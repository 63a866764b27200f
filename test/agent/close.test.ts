import { textTurn, toolTurn } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { agentScene, ran, toolOf } from "./agent-scene.case.ts";

const hangs = toolOf("hangs", () => new Promise(() => undefined));

describe("listeners of an agent's run", () => {
  it("a listener may close the agent in the middle of a run", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(toolTurn("hangs"));
    const agent = await scene.open({ tools: () => [hangs] });
    const seen: string[] = [];

    for await (const event of agent.run("Go.")) {
      seen.push(event.type === "ended" ? event.reason : event.type);
      if (event.type === "call-started") await agent.close();
    }

    expect(seen.at(-1)).toBe("aborted");
  });

  it("a request from a listener waits until the run has ended, and the run does not wait for the listener", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(toolTurn("quick"), textTurn("Done."));
    const agent = await scene.open({ tools: () => [toolOf("quick", () => "quick result")] });
    const seen: string[] = [];

    for await (const event of agent.run("Go.")) {
      seen.push(event.type);
      if (event.type === "call-started") {
        await agent.setNotes("built-in");
        expect(JSON.stringify(agent.conversation)).toContain("Done.");
      }
    }

    expect(seen.at(-1)).toBe("ended");
  });

  it("an agent stays usable when a listener stops reading the events of a run", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(textTurn("One."), textTurn("Two."));
    const agent = await scene.open({ tools: () => [] });
    await agent.run("First.").next();

    const { result } = await ran(agent, "Second.");

    expect(result.text).toBe("Two.");
    expect(JSON.stringify(agent.conversation)).toContain("One.");
    expect(scene.simulator.requests.invalid).toEqual([]);
  });
});

describe("closed agents", () => {
  it("closing an agent also ends the runs that wait, and writes their prompts", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(toolTurn("hangs"), toolTurn("hangs"));
    const agent = await scene.open({ tools: () => [hangs] });
    let closing: Promise<void> | undefined;
    const first = ran(agent, "First.", {
      onEvent: ({ type }) => {
        if (type === "call-started") closing = agent.close();
      },
    });
    const second = ran(agent, "Second.");

    expect((await first).result.reason).toBe("aborted");
    expect((await second).result).toMatchObject({ reason: "aborted", turns: 0 });
    await closing;
    const again = await scene.open({ tools: () => [hangs], session: agent.sessionPath });
    expect(JSON.stringify(again.conversation)).toContain("Second.");
  });

  it("closing an agent does not wait for the summary of a running compaction", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(textTurn("One."), textTurn("Two."));
    const agent = await scene.open({ tools: () => [] });
    await ran(agent, "First.");
    await ran(agent, "Second.");
    scene.simulator.fail({ kind: "silence" });
    const compacting = agent.compact({ keepRecentTokens: 0, force: true }).catch((error: unknown) => error);
    while (!scene.idle.some(({ type }) => type === "compacting"))
      await new Promise((resolve) => setImmediate(resolve));

    await agent.close();

    expect(await compacting).toMatchObject({ code: "model-aborted" });
    const again = await scene.open({ tools: () => [], session: agent.sessionPath });
    expect(again.conversation.map(({ uuid }) => uuid)).toEqual(agent.conversation.map(({ uuid }) => uuid));
  });

  it("a closed agent rejects later requests and writes nothing", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(textTurn("One."));
    const agent = await scene.open({ tools: () => [] });
    await ran(agent, "First.");
    await agent.close();

    await expect(ran(agent, "Second.")).rejects.toMatchObject({ code: "agent-closed" });
    await expect(agent.compact()).rejects.toMatchObject({ code: "agent-closed" });
    await expect(agent.setNotes("off")).rejects.toMatchObject({ code: "agent-closed" });
    await agent.close();
    expect(JSON.stringify(agent.conversation)).not.toContain("Second.");
  });
});
