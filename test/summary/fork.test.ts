import type { ApiMessage, ModelRequest } from "@longhaul/core";
import type { ModelSummary } from "@longhaul/core/compaction";
import { summaryPrompt } from "@longhaul/core/summary";
import type { LoggedRequest } from "@longhaul/simulator";
import { type Simulator, startSimulator, summaries } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requestFork } from "../../packages/core/src/compaction/write/shared-prefix.ts";
import { findMarks, withoutMarks } from "../../packages/core/src/models/prompt-cache-marks.ts";
import { connect, FRAME, Host, plainWorker, thinkingWorker } from "./host.ts";

const TURNS = 12;
const PROMPT = summaryPrompt();
const adaptive = { ...FRAME, thinking: { type: "adaptive" } };

let simulator: Simulator;
const start = async (behavior = plainWorker): Promise<void> => {
  simulator = await startSimulator({ behaviors: [summaries(), behavior] });
};
beforeEach(() => start());
afterEach(() => simulator.close());

async function begun(host: Host): Promise<Host> {
  host.conversation.user("Bring the books in order.");
  await host.turns(TURNS);
  return host;
}

async function forked(host: Host): Promise<ModelSummary> {
  const summary = await requestFork(host.fork(), host.conversation.entries, PROMPT);
  if ("unavailable" in summary) throw new Error(summary.unavailable);
  return summary;
}

const tokensOf = ({ usage }: Pick<ModelSummary, "usage">): number =>
  usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;

/** Returns the last call of the main conversation before the fork. Its prompt is in the cache. */
const lastOfMain = (): LoggedRequest | undefined => simulator.requests.messages.at(-2);

function expectReadAndNotWritten(summary: ModelSummary): void {
  const prefix = lastOfMain()?.inputTokens ?? Number.NaN;
  expect(prefix).toBeGreaterThan(5_000);
  expect(summary.usage.cache_read_input_tokens).toBe(prefix);
  expect(summary.usage.cache_creation_input_tokens).toBe(0);
  expect(simulator.requests.last?.usage).toMatchObject({
    cache_read_input_tokens: prefix,
    cache_creation_input_tokens: 0,
  });
  expect(simulator.requests.invalid).toEqual([]);
}

describe("a fork of the conversation that asks for a summary", () => {
  it.each([
    ["claude-opus-4-6", plainWorker, FRAME],
    ["claude-opus-4-6", thinkingWorker, { ...FRAME, thinking: { type: "adaptive" } }],
    ["claude-opus-5-5", thinkingWorker, adaptive],
    ["claude-haiku-4-5", plainWorker, FRAME],
  ] as const)(
    "a fork reads the whole prompt of the last call from the cache, even if a reply and results follow it (%s)",
    async (name, worker, frame) => {
      await simulator.close();
      await start(worker);
      const host = await begun(new Host(connect(simulator, name), frame));
      const summary = await forked(host);
      expectReadAndNotWritten(summary);
      expect(summary.text).toContain("Bring the books in order.");
      // The prefix is followed by one reply with its results, and by the request for the summary.
      expect(simulator.requests.messages).toHaveLength(TURNS + 1);
    },
  );

  it("a fork reads at least 95% of a long conversation from the cache", async () => {
    const host = new Host(connect(simulator, "claude-opus-4-6"));
    host.conversation.user("Bring the books in order. They are long. ".repeat(2_000));
    await host.turns(TURNS);
    const summary = await forked(host);
    expectReadAndNotWritten(summary);
    expect(summary.usage.cache_read_input_tokens / tokensOf(summary)).toBeGreaterThan(0.95);
  });

  it("a fork reads everything from the cache when there are no new messages since the last call", async () => {
    const host = await begun(new Host(connect(simulator, "claude-opus-5-5"), adaptive));
    host.conversation.assistant("Noted.");
    host.conversation.user("And now the ledger.");
    await host.call();
    expectReadAndNotWritten(await forked(host));
  });

  it("a fork reads a one-hour prompt cache with a cache mark of the same lifetime", async () => {
    const host = await begun(new Host(connect(simulator, "claude-opus-4-6"), FRAME, "1h"));
    const hour = { type: "ephemeral", ttl: "1h" } as const;
    const fork = { ...host.fork(), frame: { ...FRAME, cache_control: hour } };
    await requestFork(fork, host.conversation.entries, PROMPT);
    expect(simulator.requests.last?.usage).toMatchObject({
      cache_read_input_tokens: lastOfMain()?.inputTokens,
      cache_creation_input_tokens: 0,
    });
    const sent = simulator.requests.last?.body as unknown as ModelRequest;
    expect(findMarks(sent).map(({ ttl }) => ttl)).toEqual(["1h"]);
    expect(sent.cache_control).toBeUndefined();
  });

  it("a fork leaves the prompt cache unchanged, so the next call reads the same prefix", async () => {
    const host = await begun(new Host(connect(simulator, "claude-opus-5-5"), adaptive));
    await forked(host);
    await host.call();
    expect(simulator.requests.last?.usage).toMatchObject({
      cache_read_input_tokens: lastOfMain()?.usage?.cache_read_input_tokens,
    });
  });

  it("a fork repeats system prompt, tools and messages exactly, with one cache mark and the prompt at the end", async () => {
    await simulator.close();
    await start(thinkingWorker);
    const host = await begun(new Host(connect(simulator, "claude-opus-5-5"), adaptive));
    await host.call();
    const main = unmarked(simulator.requests.last);
    await forked(host);
    const fork = unmarked(simulator.requests.last);
    const { messages: before, ...frame } = main;
    const { messages: after, ...forkFrame } = fork;
    expect(forkFrame).toEqual(frame);
    expect(after.slice(0, -1)).toEqual(before.slice(0, -1));
    const last = before.at(-1)?.content;
    expect(after.at(-1)?.content).toEqual([
      ...(Array.isArray(last) ? last : []),
      { type: "text", text: PROMPT },
    ]);
    const marks = findMarks(simulator.requests.last?.body as unknown as ModelRequest);
    expect(marks.map(({ place: [section, index] }) => [section, index])).toEqual([[2, before.length - 1]]);
  });

  it.each([
    ["a tool result", TURNS, "thinking-not-kept"],
    ["a user message", 0, undefined],
  ] as const)(
    "a fork after %s is possible only if the provider keeps the thinking in the prefix",
    async (_, turns, unavailable) => {
      await simulator.close();
      await start(thinkingWorker);
      const thinking = { type: "enabled", budget_tokens: 2_000 };
      const host = new Host(connect(simulator, "claude-haiku-4-5"), { ...FRAME, thinking });
      host.conversation.user("Bring the books in order. ".repeat(500));
      await host.turns(turns);
      if (turns === 0) await host.call();
      const summary = await requestFork(host.fork(), host.conversation.entries, PROMPT);
      if ("unavailable" in summary) expect(summary).toEqual({ unavailable });
      else expectReadAndNotWritten(summary);
      expect(simulator.requests.messages).toHaveLength(turns === 0 ? 2 : turns);
    },
  );

  it("a fork has no cache marks when the model does not support them", async () => {
    const host = new Host(connect(simulator, "claude-opus-4-6", { capabilities: { promptCache: false } }));
    await begun(host);
    await forked(host);
    expect(findMarks(simulator.requests.last?.body as unknown as ModelRequest)).toEqual([]);
  });
});

function unmarked(request: LoggedRequest | undefined): ModelRequest {
  const { messages, ...rest } = withoutMarks(request?.body as unknown as ModelRequest);
  // The API treats a string as one text block.
  const asBlocks = ({ role, content }: ApiMessage): ApiMessage => ({
    role,
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  });
  const system =
    typeof rest.system === "string" ? [{ type: "text" as const, text: rest.system }] : rest.system;
  return { ...rest, ...(system ? { system } : {}), messages: messages.map(asBlocks) };
}
