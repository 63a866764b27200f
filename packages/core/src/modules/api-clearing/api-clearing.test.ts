import { describe, expect, it } from "vitest";
import { contextEdits } from "./api-clearing.ts";

const HOUR_MS = 3_600_000;
const TOOLS = ["Write", "Read", "TodoWrite", "Bash", "AskUserQuestion", "Edit"];

describe("contextEdits", () => {
  it("by default, asks the provider to clear at 180,000 tokens down to 40,000 and to keep 3 tool uses", () => {
    expect(contextEdits({ usedTools: TOOLS, thinkingOn: false })).toEqual([
      {
        type: "clear_tool_uses_20250919",
        trigger: { type: "input_tokens", value: 180_000 },
        keep: { type: "tool_uses", value: 3 },
        clear_at_least: { type: "input_tokens", value: 140_000 },
        exclude_tools: ["AskUserQuestion", "TodoWrite"],
        clear_tool_inputs: ["Edit", "Write"],
      },
    ]);
  });

  it("contextEdits rounds the caller's token figures and never sends a number below 0", () => {
    const edits = (triggerTokens: number, targetTokens: number): unknown =>
      contextEdits({ usedTools: ["Read"], thinkingOn: false, triggerTokens, targetTokens })[0];
    const value = (tokens: number): object => ({ type: "input_tokens", value: tokens });
    expect(edits(1_000.6, 400.2)).toMatchObject({ trigger: value(1_001), clear_at_least: value(600) });
    expect(edits(100, 400)).toMatchObject({ trigger: value(100), clear_at_least: value(0) });
    expect(edits(Number.NaN, 400)).toMatchObject({ trigger: value(0), clear_at_least: value(0) });
  });

  it("puts the thinking edit first, which keeps only the last turn's thinking after a pause of over an hour", () => {
    const thinking = (idleMs: number | undefined): unknown =>
      contextEdits({ usedTools: TOOLS, thinkingOn: true, idleMs })[0];
    expect(thinking(undefined)).toEqual({ type: "clear_thinking_20251015", keep: "all" });
    expect(thinking(HOUR_MS)).toEqual({ type: "clear_thinking_20251015", keep: "all" });
    expect(thinking(HOUR_MS + 1)).toEqual({
      type: "clear_thinking_20251015",
      keep: { type: "thinking_turns", value: 1 },
    });
    expect(contextEdits({ usedTools: TOOLS, thinkingOn: true })).toHaveLength(2);
    expect(contextEdits({ usedTools: TOOLS, thinkingOn: false, idleMs: HOUR_MS * 2 })).toHaveLength(1);
  });

  it("returns no edit for tool results when none of the used tools may be cleared", () => {
    expect(contextEdits({ usedTools: ["TodoWrite"], thinkingOn: false })).toEqual([]);
    expect(contextEdits({ usedTools: [], thinkingOn: false })).toEqual([]);
    expect(contextEdits({ usedTools: TOOLS, tools: [], thinkingOn: true })).toHaveLength(1);
  });

  it("contextEdits uses the caller's list of clearable tools instead of the default list", () => {
    const [edit] = contextEdits({ usedTools: TOOLS, tools: ["TodoWrite", "Edit"], thinkingOn: false });
    expect(edit).toMatchObject({
      exclude_tools: ["AskUserQuestion", "Bash", "Read", "Write"],
      clear_tool_inputs: ["Edit"],
    });
  });

  it("contextEdits omits the lists of excluded tools and cleared inputs when they are empty", () => {
    const [edit] = contextEdits({ usedTools: ["Read"], thinkingOn: false });
    expect(edit).not.toHaveProperty("exclude_tools");
    expect(edit).not.toHaveProperty("clear_tool_inputs");
  });

  it("returns identical context edits for the same tool names in any order, even with repetitions", () => {
    const bytes = (usedTools: readonly string[]): string =>
      JSON.stringify(contextEdits({ usedTools, thinkingOn: true }));
    expect(bytes([...TOOLS].reverse())).toBe(bytes(TOOLS));
    expect(bytes([...TOOLS, ...TOOLS])).toBe(bytes(TOOLS));
  });

  it("asks the provider to keep every tool result that no model has seen, even if there are more than 3", () => {
    const kept = (unseenResults?: number): unknown =>
      contextEdits({ usedTools: ["Read"], thinkingOn: false, unseenResults })[0];
    expect(kept(8)).toMatchObject({ keep: { type: "tool_uses", value: 8 } });
    expect(kept(1)).toEqual(kept());
  });
});
