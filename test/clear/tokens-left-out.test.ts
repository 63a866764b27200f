import type { ApiMessage, ContentBlock, Entry } from "@longhaul/core";
import { CLEARED_RESULT_TEXT } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tokensLeftOut } from "../../packages/core/src/compaction/clear/context-edits.ts";
import { contentBlocks } from "../../packages/core/src/messages/message.ts";
import type { JsonRecord } from "../../packages/core/src/messages/untrusted.ts";
import { applyEdits, CLEARED_RESULT } from "../../packages/simulator/src/anthropic/context/context-edits.ts";
import type { SimulatedModel } from "../../packages/simulator/src/anthropic/request.ts";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../support/builders.ts";

const MODEL = { features: { keepsEarlierThinking: true } } as SimulatedModel;

/**
 * Counts one token per character. In a cleared result, our own text replaces the provider's text before the
 * count.
 */
const tokensOf = (block: ContentBlock): number =>
  JSON.stringify(block).replace(CLEARED_RESULT, CLEARED_RESULT_TEXT).length;

const messagesOf = (entries: readonly Entry[]): readonly ApiMessage[] =>
  entries.flatMap((entry) => (entry.type === "user" || entry.type === "assistant" ? [entry.message] : []));

const measure = (messages: readonly ApiMessage[]): number =>
  messages.flatMap(({ content }) => contentBlocks(content)).reduce((sum, block) => sum + tokensOf(block), 0);

interface Step {
  readonly words: boolean;
  readonly thinks: boolean;
  readonly tools: readonly string[];
  readonly characters: number;
}

const arbitraryStep: fc.Arbitrary<Step> = fc.record({
  words: fc.boolean(),
  thinks: fc.boolean(),
  tools: fc.array(fc.constantFrom("Read", "Write", "TodoWrite"), { maxLength: 3 }),
  characters: fc.integer({ min: 60, max: 2_000 }),
});

function conversationOf(steps: readonly Step[]): readonly Entry[] {
  const talk = new ConversationBuilder();
  talk.user([{ type: "text", text: "Begin." }]);
  for (const [at, { words, thinks, tools, characters }] of steps.entries()) {
    const ids = tools.map((_, nth) => `t${at}_${nth}`);
    const calls = tools.map((tool, nth) =>
      toolUse(ids[nth] ?? "", tool, { content: "y".repeat(characters) }),
    );
    talk.assistant([...(thinks ? [thinking("z".repeat(characters))] : []), ...calls]);
    const results = ids.map((id) => toolResult(id, "x".repeat(characters)));
    talk.user([...results, ...(words || ids.length === 0 ? [{ type: "text", text: "More." } as const] : [])]);
  }
  return talk.entries;
}

const arbitraryFigure = (type: string, max: number): fc.Arbitrary<object> =>
  fc.integer({ min: 0, max }).map((value) => ({ type, value }));

const arbitraryEdits: fc.Arbitrary<readonly JsonRecord[]> = fc.tuple(
  fc.record({
    type: fc.constant("clear_thinking_20251015"),
    keep: fc.oneof(fc.constant("all"), arbitraryFigure("thinking_turns", 4)),
  }),
  fc.record(
    {
      type: fc.constant("clear_tool_uses_20250919"),
      trigger: fc.oneof(arbitraryFigure("input_tokens", 20_000), arbitraryFigure("tool_uses", 10)),
      keep: arbitraryFigure("tool_uses", 6),
      clear_at_least: fc.constantFrom({ value: 0 }, { value: 1_000_000 }),
      exclude_tools: fc.subarray(["Read", "TodoWrite"]),
      clear_tool_inputs: fc.oneof(fc.boolean(), fc.subarray(["Read", "Write"])),
    },
    { requiredKeys: ["type"] },
  ),
);

describe("tokens that the context edits of a request remove", () => {
  it("tokensLeftOut counts the tokens that the simulator removes for the same context edits", () => {
    fc.assert(
      fc.property(fc.array(arbitraryStep, { maxLength: 12 }), arbitraryEdits, (steps, edits) => {
        const entries = conversationOf(steps);
        const messages = messagesOf(entries);
        const before = { messages, tokens: measure(messages) };
        const { tokens, applied } = applyEdits(before, edits, MODEL, measure);
        // The provider clears thinking first. After that, the tokens of this thinking no longer count toward
        // the trigger for clearing results.
        const [first] = applied;
        const cleared = first?.type === "clear_thinking_20251015" ? first.cleared_input_tokens : 0;
        const prompt = { countedTokens: before.tokens - cleared, statedTokens: 0, tokensOf };
        expect(tokensLeftOut(entries, edits, prompt)).toBe(before.tokens - tokens);
      }),
    );
  });

  it("tokensLeftOut accepts a total slightly below `clear_at_least`, because its own count may be too low", () => {
    const step = { words: false, thinks: false, tools: ["Read"], characters: 1_000 };
    const entries = conversationOf(Array.from({ length: 4 }, () => step));
    const leftOut = (least: number, statedTokens = 0): number => {
      const edit = {
        type: "clear_tool_uses_20250919",
        trigger: { value: 0 },
        clear_at_least: { value: least },
      };
      return tokensLeftOut(entries, [edit], { countedTokens: 8_000, statedTokens, tokensOf });
    };
    expect(leftOut(0)).toBe(1_000 - CLEARED_RESULT_TEXT.length);
    expect(leftOut(1_200)).toBe(leftOut(0));
    expect(leftOut(1_300)).toBe(0);
    // An error states the size of the prompt. The first stated size is near our count of the whole prompt.
    // The second is near our count after clearing. The third is near neither.
    expect([7_900, 7_100, 9_000].map((stated) => leftOut(1_200, stated))).toEqual([
      0,
      leftOut(0),
      leftOut(0),
    ]);
    expect(leftOut(100, 7_900)).toBe(leftOut(0));
  });

  it("tokensLeftOut counts nothing for context edits of unknown types and shapes", () => {
    const entries = conversationOf([{ words: false, thinks: true, tools: ["Read"], characters: 1_000 }]);
    fc.assert(
      fc.property(fc.array(fc.anything()), (edits) => {
        expect(tokensLeftOut(entries, edits, { countedTokens: 2_000, statedTokens: 0, tokensOf })).toBe(0);
      }),
    );
    const odd = [{ type: "clear_thinking_20251015", keep: { value: "1" } }, { type: "compact_20260112" }];
    expect(tokensLeftOut(entries, odd, { countedTokens: 2_000, statedTokens: 0, tokensOf })).toBe(0);
  });
});
