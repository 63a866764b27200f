import { resumeSession } from "@longhaul/sessions";
import { textTurn, toolTurn } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { agentScene, ran, toolOf } from "./agent-scene.case.ts";

const words = (entries: readonly unknown[]): string => JSON.stringify(entries);

describe("interrupted agents", () => {
  it("an interrupt keeps the part of an answer that was shown, and the next prompt continues from it", async () => {
    await using scene = await agentScene();
    scene.simulator.fail({ kind: "slow", betweenEventsMs: 20 });
    scene.simulator.reply(textTurn("The first harbour is Dover. ".repeat(30)), textTurn("As you wish."));
    const agent = await scene.open();
    const abort = new AbortController();

    const { result } = await ran(agent, "List the harbours.", {
      signal: abort.signal,
      onEvent: ({ type }) => type === "text" && abort.abort(),
    });

    expect(result.reason).toBe("aborted");
    expect(words(agent.conversation)).toContain("The first harbour");
    const next = await ran(agent, "Only the first.");
    expect(next.result).toMatchObject({ reason: "answered", text: "As you wish." });
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("an interrupt answers every open tool call and keeps the results of finished calls", async () => {
    await using scene = await agentScene();
    const abort = new AbortController();
    const hangs = toolOf("hangs", () => {
      queueMicrotask(() => abort.abort());
      return new Promise<string>(() => undefined);
    });
    const call = (name: string) => ({ type: "tool_use" as const, name, input: {} });
    scene.simulator.reply({ blocks: [call("quick"), call("change"), call("hangs"), call("quick")] }, "Fine.");
    const agent = await scene.open({
      tools: () => [toolOf("quick", () => "quick result"), toolOf("change", () => "changed", false), hangs],
    });

    const { result } = await ran(agent, "Go.", { signal: abort.signal });

    expect(result.reason).toBe("aborted");
    const said = words(agent.conversation);
    expect(said).toContain("quick result");
    expect(said).toContain("changed");
    expect(said).toContain("Not finished");
    expect(said.match(/"type":"tool_result"/g)).toHaveLength(4);
    await ran(agent, "And?");
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("a model call that gets no first byte ends with a timeout error, and the next prompt works", async () => {
    await using scene = await agentScene();
    scene.simulator.fail({ kind: "silence" });
    const agent = await scene.open({ compactor: { compaction: { firstByteTimeoutMs: 300 } } });

    const { result } = await ran(agent, "List the harbours.");

    expect(result).toMatchObject({ reason: "failed", error: { code: "model-timed-out" } });
    scene.simulator.reply(textTurn("Dover."));
    expect((await ran(agent, "Once more.")).result).toMatchObject({ reason: "answered", text: "Dover." });
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("a run stops when its caller no longer reads the events", async () => {
    await using scene = await agentScene();
    let isStopped = false;
    const waits = toolOf(
      "waits",
      (_, signal) =>
        new Promise<string>((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            isStopped = true;
            reject(signal.reason);
          });
        }),
    );
    scene.simulator.reply(toolTurn("waits"));
    const agent = await scene.open({ tools: () => [waits] });

    for await (const event of agent.run("Go.")) if (event.type === "call-started") break;

    expect(isStopped).toBe(true);
    scene.simulator.reply(textTurn("Yes."));
    const next = await ran(agent, "Still there?");
    expect(next.result.reason).toBe("answered");
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("closing the agent ends its run even while a tool hangs", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(toolTurn("hangs"));
    const agent = await scene.open({ tools: () => [toolOf("hangs", () => new Promise(() => undefined))] });
    let closing: Promise<void> | undefined;

    const { result } = await ran(agent, "Go.", {
      onEvent: ({ type }) => {
        if (type === "call-started") closing = agent.close();
      },
    });

    expect(result.reason).toBe("aborted");
    await closing;
  });

  it("an interrupted run has written all its messages, so another process can resume the session", async () => {
    await using scene = await agentScene();
    const abort = new AbortController();
    scene.simulator.reply(toolTurn("quick"), "Never heard.");
    const quick = toolOf("quick", () => {
      queueMicrotask(() => abort.abort());
      return "quick result";
    });
    const agent = await scene.open({ tools: () => [quick] });
    await ran(agent, "Remember the number 4711.", { signal: abort.signal });

    const { conversation } = await resumeSession(agent.sessionPath);

    expect(words(conversation)).toContain("4711");
    expect(conversation.map(({ uuid }) => uuid)).toEqual(agent.conversation.map(({ uuid }) => uuid));
  });
});
