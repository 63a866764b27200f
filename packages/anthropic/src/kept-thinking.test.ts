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
  it("older models forget the thinking of the current turn when the user writes next", () => {
    expect(forgetsThinkingAtNextTurn(OLDER, { messages: working })).toBe(true);
    expect(forgetsThinkingAtNextTurn("claude-opus-4-6", { messages: working })).toBe(false);
    expect(forgetsThinkingAtNextTurn("gpt-5", { messages: working })).toBe(false);
  });

  it("a model has no thinking left to forget right after a user message", () => {
    const messages: readonly ApiMessage[] = [
      ...working.slice(0, 2),
      { role: "user", content: [toolResult("t", "nine"), { type: "text", text: "And?" }] },
    ];
    expect(forgetsThinkingAtNextTurn(OLDER, { messages })).toBe(false);
  });

  it("a model forgets no thinking when there is none or when the request sets which thinking to keep", () => {
    const plain = working.map((message) =>
      message.role === "assistant" ? { ...message, content: [toolUse("t", "look", {})] } : message,
    );
    expect(forgetsThinkingAtNextTurn(OLDER, { messages: plain })).toBe(false);
    const context_management = { edits: [{ type: "clear_thinking_20251015", keep: "all" }] };
    expect(forgetsThinkingAtNextTurn(OLDER, { messages: working, context_management })).toBe(false);
  });
});
