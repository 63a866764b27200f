import { describe, expect, it } from "vitest";
import { ConversationBuilder, image, usage } from "../../../../../test/support/builders.ts";
import { measureConversation } from "../../compaction/plan/sized.ts";
import type { Entry } from "../../messages/entry.ts";
import { ESTIMATORS } from "./estimators.ts";

const TURN = "word ".repeat(400);
const TURN_TOKENS = ESTIMATORS.o200k(TURN) + ESTIMATORS.o200k("ok");

/**
 * Builds a session in which the provider counts `ratio` tokens for each of ours, plus an overhead of 20,000.
 */
function session(turns: number, ratio: number): ConversationBuilder {
  const built = new ConversationBuilder();
  for (let turn = 0; turn < turns; turn++) {
    built.user(TURN);
    const before = turn * TURN_TOKENS + ESTIMATORS.o200k(TURN);
    built.assistant("ok", { usage: usage(Math.round(20_000 + before * ratio), 2) });
  }
  return built;
}

const sized = (entries: readonly Entry[]) => measureConversation({ entries }, {});

describe("overhead of a conversation: system prompt and tools", () => {
  it.each([0.9, 1.35, 2, 3.5])(
    "estimates the tokens of system prompt and tools if %f true tokens match one estimated token",
    (ratio) => {
      const { overheadTokens } = sized(session(80, ratio).entries);
      expect(Math.abs(overheadTokens - 20_000)).toBeLessThan(2_000);
    },
  );

  it("the tokens of system prompt, tools and entries add up to the tokens of the context", () => {
    for (const turns of [1, 2, 7, 80]) {
      const { overheadTokens, tokens, contextTokens } = sized(session(turns, 1.7).entries);
      const held = tokens.reduce((sum, each) => sum + each, 0);
      expect(Math.abs(overheadTokens + held - contextTokens)).toBeLessThan(1);
    }
  });

  it("the tokens of system prompt and tools do not grow when early tool results are cleared", () => {
    const built = new ConversationBuilder();
    built.user("read it");
    built.assistant([{ type: "tool_use", id: "t1", name: "Read", input: {} }], { usage: usage(20_010, 10) });
    const result = "line ".repeat(20_000);
    built.user([{ type: "tool_result", tool_use_id: "t1", content: result }]);
    built.assistant("ok", { usage: usage(20_010 + ESTIMATORS.o200k(result), 2) });
    built.user("continue");
    built.assistant("ok", { usage: usage(20_400, 2) });
    const snapshot = { entries: built.entries, clearedToolUseIds: new Set(["t1"]) };
    expect(measureConversation(snapshot, {}).overheadTokens).toBeLessThan(21_000);
  });

  it("the flat estimate for many images does not reduce the tokens of system prompt and tools", () => {
    const built = session(20, 1.7);
    const before = sized(built.entries).contextTokens;
    built.user(Array.from({ length: 30 }, () => image()));
    built.assistant("ok", { usage: usage(before + 60_000, 2) });
    expect(sized(built.entries).overheadTokens).toBeGreaterThan(15_000);
  });

  it("reports no tokens of system prompt and tools without a usage report", () => {
    const built = new ConversationBuilder();
    built.user("hello");
    built.assistant("hi");
    expect(sized(built.entries)).toMatchObject({ overheadTokens: 0, source: "estimate" });
  });
});
