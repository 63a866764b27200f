import type { ApiMessage } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { thinking, toolResult, toolUse } from "../../../test/support/builders.ts";
import { forgetsThinkingAtNextTurn } from "../../core/src/models/sent-thinking.ts";

const working: readonly ApiMessage[] = [
  { role: "user", content: "Count." },
  { role: "assistant", content: [thinking("hm"), toolUse("t", "look", {})] },
  { role: "user", content: [toolResult("t", "nine")] },
];
const OLDER = "claude-haiku-4-5";

describe("forgetsThinkingAtNextTurn", () => {
  it("returns true for older models, which drop the thinking of a turn at the next user message", () => {
    expect(forgetsThinkingAtNextTurn(OLDER, { messages: working })).toBe(true);
    expect(forgetsThinkingAtNextTurn("claude-opus-4-6", { messages: working })).toBe(false);
    expect(forgetsThinkingAtNextTurn("gpt-5", { messages: working })).toBe(false);
  });

  it("returns false right after a user message, because the earlier thinking is already dropped", () => {
    const messages: readonly ApiMessage[] = [
      ...working.slice(0, 2),
      { role: "user", content: [toolResult("t", "nine"), { type: "text", text: "And?" }] },
    ];
    expect(forgetsThinkingAtNextTurn(OLDER, { messages })).toBe(false);
  });

  it("returns false when there is no thinking, or when the request says which thinking to keep", () => {
    const plain = working.map((message) =>
      message.role === "assistant" ? { ...message, content: [toolUse("t", "look", {})] } : message,
    );
    expect(forgetsThinkingAtNextTurn(OLDER, { messages: plain })).toBe(false);
    const context_management = { edits: [{ type: "clear_thinking_20251015", keep: "all" }] };
    expect(forgetsThinkingAtNextTurn(OLDER, { messages: working, context_management })).toBe(false);
  });
});
