import { describe, expect, it } from "vitest";
import { toolResult, toolUse } from "../../../../test/support/builders.ts";
import {
  type Compactor,
  type CompactorOptions,
  createCompactor,
} from "../../../../test/support/full-compactor.ts";
import type { ApiMessage } from "../messages/message.ts";
import { ModelError } from "../models/model-error.ts";
import type { Message, Turn } from "./options.ts";

const words = (count: number, seed: number): string =>
  Array.from({ length: count }, (_, at) => `w${(at * 31 + seed * 7) % 997}`).join(" ");

/**
 * Creates rounds that fill most of a 200,000-token window, then tool calls whose results no model has seen.
 */
function conversation(unseen: readonly number[], rounds = 24, roundWords = 3_000): readonly ApiMessage[] {
  const ids = unseen.map((_, at) => `new-${at}`);
  return [
    { role: "user", content: "Find the fault." },
    ...Array.from({ length: rounds }, (_, at): readonly ApiMessage[] => [
      { role: "assistant", content: [toolUse(`t${at}`, "Bash", { at })] },
      { role: "user", content: [toolResult(`t${at}`, words(roundWords, at))] },
    ]).flat(),
    { role: "assistant", content: ids.map((id) => toolUse(id, "Ask", { id })) },
    { role: "user", content: unseen.map((count, at) => toolResult(`new-${at}`, words(count, at))) },
  ];
}

const engine = (options: CompactorOptions = {}): Compactor =>
  createCompactor({
    model: "claude-haiku-4-5",
    clearing: { form: "off" },
    ...options,
    settings: { environment: {}, ...options.settings },
    compaction: { summarizer: "built-in", background: false, ...options.compaction },
  });

/** Returns the results of the last tool calls in the request. */
function answersOf({ request: { messages } }: Turn<Message>): readonly string[] {
  const call = messages.findLastIndex(({ role }) => role === "assistant");
  const answer = messages[call + 1]?.content ?? [];
  return typeof answer === "string"
    ? []
    : answer.flatMap((block) => (block.type === "tool_result" ? [String(block.content)] : []));
}

describe("a tool result that no model has seen", () => {
  it("a compaction keeps an unseen tool result completely if the result fits next to the summary", async () => {
    const turn = await engine().before(conversation([14_000]));
    expect(turn.compaction?.messagesKept).toBeGreaterThan(0);
    expect(answersOf(turn)).toEqual([words(14_000, 0)]);
    expect(turn.tokens).toBeLessThan(turn.thresholds.autoCompact);
  });

  it("a compaction shortens an unseen tool result that does not fit, and keeps it as the answer to its call", async () => {
    const turn = await engine().before(conversation([150_000, 100], 4));
    const [long = "", short] = answersOf(turn);
    expect(short).toBe(words(100, 1));
    expect(long.length).toBeLessThan(words(150_000, 0).length);
    expect(long).toContain("Call the tool again for the missing part.");
    expect(turn.compaction?.ledger?.shortened).toMatchObject([{ toolUseId: "new-0" }]);
    expect(turn.compaction?.ledger?.shortened?.[0]?.keptTokens).toBeGreaterThan(2_000);
    expect(turn.tokens).toBeLessThan(turn.thresholds.autoCompact);
    expect(turn.window.isAtBlockingLimit).toBe(false);
  });

  it.each<readonly [string, object]>([
    ["the whole conversation", { keepRecentTokens: 0 }],
    ["everything from a message on", { from: 11 }],
    ["everything up to the newest message", { upTo: 50 }],
  ])("keeps tool results that no model has seen when the user compacts %s", async (_, options) => {
    const compactor = engine();
    const messages = conversation([9_000, 50], 24, 500);
    const { messages: compacted } = await compactor.compact(messages, { force: true, ...options });
    expect(compacted.length).toBeLessThan(messages.length);
    expect(answersOf(await compactor.before(compacted))).toEqual([words(9_000, 0), words(50, 1)]);
  });

  it("keeps at least 2,000 tokens of an unseen tool result even if the system prompt is large", async () => {
    const compactor = engine({ window: { tokens: 44_000 }, request: { system: words(9_500, 3) } });
    const turn = await compactor.before(conversation([60, 6_000, 500], 6, 300));
    const [tiny, long = "", short] = answersOf(turn);
    expect([tiny, short]).toEqual([words(60, 0), words(500, 2)]);
    expect(long.includes("Call the tool again for the missing part.")).toBe(true);
    expect(turn.compaction?.ledger?.shortened?.[0]?.keptTokens).toBeGreaterThanOrEqual(2_000);
    expect(turn.window.isAtBlockingLimit).toBe(false);
  });

  it("keeps a tool result that no model has seen when it recovers from an overflow", async () => {
    const compactor = engine({ window: { tokens: 400_000 } });
    const messages = conversation([9_000], 20);
    await compactor.before(messages);
    const tooLong = new ModelError(
      { kind: "too-long", tokens: 210_000, limit: 200_000 },
      "prompt is too long",
    );
    const turn = await compactor.recover(tooLong);
    expect(turn?.compaction).toBeDefined();
    expect(turn && answersOf(turn)).toEqual([words(9_000, 0)]);
  });
});
