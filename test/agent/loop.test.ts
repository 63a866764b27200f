import { readFile, stat } from "node:fs/promises";
import type { Workplace } from "@longhaul/agent";
import { complete } from "@longhaul/core";
import { scriptedModel, textTurn, toolTurn } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { agentScene, eventsOf, ran, toolOf } from "./agent-scene.case.ts";

const NO_USAGE = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

describe("the agent's loop", () => {
  it("a run yields messages as they arrive, runs the model's tool calls, and ends at an answer without calls", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(toolTurn("tide", { of: "Dover" }), textTurn("High water at four."));
    const agent = await scene.open({ tools: () => [toolOf("tide", ({ of = "" }) => `${of}: 04:12`)] });

    const { events, result } = await ran(agent, "When is high water?");

    expect(result).toMatchObject({ reason: "answered", text: "High water at four.", turns: 2 });
    expect(eventsOf(events, "entry").map(({ entry }) => entry.type)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(eventsOf(events, "call-ended")).toMatchObject([
      { tool: "tide", title: "Dover", isError: false, display: "Dover: 04:12" },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "ended", reason: "answered" });
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("an agent runs read-only tool calls in parallel, but no other call beside a call that changes something", async () => {
    await using scene = await agentScene();
    const log: string[] = [];
    let release: () => void = () => undefined;
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    let looking = 0;
    const look = toolOf("look", async ({ of = "" }) => {
      log.push(`look ${of}`);
      looking += 1;
      if (looking === 2) release();
      // This call ends only after the other parallel call has started.
      if (of !== "after") await both;
      return of;
    });
    const change = toolOf(
      "change",
      ({ of = "" }) => {
        log.push(`change ${of}`);
        return of;
      },
      false,
    );
    const blocks = ["a", "b"].map((of) => ({ type: "tool_use" as const, name: "look", input: { of } }));
    scene.simulator.reply(
      {
        blocks: [
          ...blocks,
          { type: "tool_use", name: "change", input: { of: "c" } },
          { type: "tool_use", name: "look", input: { of: "after" } },
        ],
      },
      textTurn("Done."),
    );
    const agent = await scene.open({ tools: () => [look, change] });

    await ran(agent, "Go.");

    expect(log).toEqual(["look a", "look b", "change c", "look after"]);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("an agent reports errors of tools, unknown tools and wrong inputs to the model", async () => {
    await using scene = await agentScene();
    const broken = toolOf("broken", () => {
      throw new Error("no harbour here");
    });
    scene.simulator.reply(
      toolTurn("broken"),
      toolTurn("missing"),
      toolTurn("broken", { of: 5 }),
      textTurn("I see."),
    );
    const agent = await scene.open({ tools: () => [broken] });

    const { events } = await ran(agent, "Go.");

    const shown = eventsOf(events, "call-ended");
    expect(shown.map(({ isError }) => isError)).toEqual([true, true, true]);
    expect(shown.map(({ display }) => display)).toEqual([
      expect.stringContaining("no harbour here"),
      expect.stringContaining("Available tools: broken"),
      expect.stringContaining("of: "),
    ]);
  });

  it("a tool result that is too large for the window is cut, and a private file keeps the full text", async () => {
    await using scene = await agentScene({ windowTokens: 20_000 });
    const long = Array.from({ length: 6_000 }, (_, line) => `line ${line}`).join("\n");
    scene.simulator.reply(toolTurn("long"), textTurn("Long."));
    const agent = await scene.open({ tools: () => [toolOf("long", () => long)] });

    await ran(agent, "Go.");

    const answered = JSON.stringify(agent.conversation);
    expect(answered.length).toBeLessThan(20_000);
    const path = /Read the whole result in parts: (\S+)\]/.exec(answered)?.[1] ?? "";
    expect(await readFile(path, "utf8")).toBe(long);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("an agent retries a model call after a transient failure, and discards the part of the answer shown so far", async () => {
    await using scene = await agentScene();
    scene.simulator.fail({ kind: "cut", afterBytes: 600 });
    const long = textTurn("A long answer that breaks off. ".repeat(40));
    scene.simulator.reply(long, long);
    const agent = await scene.open();

    const { events, result } = await ran(agent, "Go.");

    expect(result.reason).toBe("answered");
    expect(eventsOf(events, "retry")).toHaveLength(1);
    expect(eventsOf(events, "entry")).toHaveLength(2);
  });

  it("a permanent failure of the model ends the run with the model's error, and the conversation can continue", async () => {
    await using scene = await agentScene();
    scene.simulator.fail(401);
    const agent = await scene.open();

    const failed = await ran(agent, "Go.");
    expect(failed.result).toMatchObject({ reason: "failed", error: { code: "model-authentication" } });

    scene.simulator.reply(textTurn("Here I am."));
    const { result } = await ran(agent, "And now?");
    expect(result).toMatchObject({ reason: "answered", text: "Here I am." });
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("an agent continues an answer that reached the output limit, at most three times", async () => {
    await using scene = await agentScene();
    const cut = { ...textTurn("and so on"), stopReason: "max_tokens" };
    scene.simulator.reply(cut, cut, cut, cut);
    const agent = await scene.open();

    const { result } = await ran(agent, "Tell me everything.");

    expect(result).toMatchObject({ reason: "answered", turns: 4 });
  });

  it("a run makes no more turns than its limit allows", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(toolTurn("tick"), toolTurn("tick"), toolTurn("tick"));
    const agent = await scene.open({ tools: () => [toolOf("tick", () => "tock")], maxTurns: 2 });

    const { result } = await ran(agent, "Go.");

    expect(result).toMatchObject({ reason: "turn-limit", turns: 2 });
  });

  it("the conversation keeps the shown part of an answer that fails permanently", async () => {
    await using scene = await agentScene();
    scene.simulator.fail({ kind: "overload-in-stream", afterEvents: 4 }, { times: 3 });
    const long = textTurn("The first harbour is Dover. ".repeat(30));
    scene.simulator.reply(long, long, long);
    const agent = await scene.open({ tools: () => [] });

    const { result } = await ran(agent, "List the harbours.");

    expect(result).toMatchObject({ reason: "failed", error: { code: "model-overloaded" } });
    expect(agent.conversation.map(({ type }) => type)).toEqual(["user", "assistant"]);
    expect(JSON.stringify(agent.conversation)).toContain("The first harbour");
    scene.simulator.reply(textTurn("and Deal."));
    expect((await ran(agent, "Go on.")).result.reason).toBe("answered");
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("an agent runs two hundred tool calls of one response, at most ten at a time", async () => {
    await using scene = await agentScene();
    let running = 0;
    let most = 0;
    const looks = toolOf("looks", async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return "seen";
    });
    const call = { type: "tool_use" as const, name: "looks", input: {} };
    scene.simulator.reply({ blocks: Array.from({ length: 200 }, () => call) }, textTurn("All seen."));
    const agent = await scene.open({ tools: () => [looks] });

    const { events, result } = await ran(agent, "Look everywhere.");

    expect(result.text).toBe("All seen.");
    expect(eventsOf(events, "call-ended")).toHaveLength(200);
    expect(most).toBe(10);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("an agent runs a tool even when the tool's title function throws", async () => {
    await using scene = await agentScene();
    const untitled = {
      ...toolOf("untitled", () => "done"),
      title: () => {
        throw new Error("no title");
      },
    };
    scene.simulator.reply(toolTurn("untitled"), textTurn("Good."));
    const agent = await scene.open({ tools: () => [untitled] });

    const { events, result } = await ran(agent, "Go.");

    expect(result.reason).toBe("answered");
    expect(eventsOf(events, "call-ended")).toMatchObject([{ title: "", isError: false }]);
  });

  it("the context bar shows the estimate when the provider reports no usage", async () => {
    await using scene = await agentScene();
    const model = scriptedModel([{ content: "One.", usage: NO_USAGE }]);
    const agent = await scene.open({ tools: () => [], model });

    await ran(agent, "Go. ".repeat(500));

    expect(agent.reading.tokens).toBeGreaterThan(400);
  });

  it("the cost of a tool's calls to the small model is reported, by default under the conversation's model", async () => {
    await using scene = await agentScene();
    const asks = (workplace: Workplace) =>
      toolOf("asks", async () => {
        const messages = [{ role: "user" as const, content: "What is it?" }];
        const reply = await complete(workplace.smallModel, { messages, max_tokens: 100 });
        return JSON.stringify(reply.content);
      });
    const calls = [{ type: "tool_use" as const, id: "t1", name: "asks", input: {} }];
    const first = scriptedModel([{ content: calls }, "A page.", "Done."], { name: "first" });
    const second = scriptedModel([{ content: calls }, "Another page.", "Done again."], { name: "second" });
    const agent = await scene.open({ model: first, tools: (workplace) => [asks(workplace)] });

    const { events } = await ran(agent, "Read it.");
    await agent.setModel(second);
    const later = await ran(agent, "Read it again.");

    expect(eventsOf(events, "usage").map(({ model }) => model)).toEqual(["first", "first", "first"]);
    expect(eventsOf(later.events, "usage").map(({ model }) => model)).toEqual(["second", "second", "second"]);
  });
});
