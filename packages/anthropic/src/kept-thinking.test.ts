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

describe("thinking that the user's next words make a model forget", () => {
  it("is that of the turn which is under way, on older models", () => {
    expect(forgetsThinkingAtNextTurn(OLDER, { messages: working })).toBe(true);
    expect(forgetsThinkingAtNextTurn("claude-opus-4-6", { messages: working })).toBe(false);
    expect(forgetsThinkingAtNextTurn("gpt-5", { messages: working })).toBe(false);
  });

  it("is none where the user has just spoken: what came before is forgotten already", () => {
    const messages: readonly ApiMessage[] = [
      ...working.slice(0, 2),
      { role: "user", content: [toolResult("t", "nine"), { type: "text", text: "And?" }] },
    ];
    expect(forgetsThinkingAtNextTurn(OLDER, { messages })).toBe(false);
  });

  it("is none where there is no thinking, or where the request says what is kept", () => {
    const plain = working.map((message) =>
      message.role === "assistant" ? { ...message, content: [toolUse("t", "look", {})] } : message,
    );
    expect(forgetsThinkingAtNextTurn(OLDER, { messages: plain })).toBe(false);
    const context_management = { edits: [{ type: "clear_thinking_20251015", keep: "all" }] };
    expect(forgetsThinkingAtNextTurn(OLDER, { messages: working, context_management })).toBe(false);
  });
});
