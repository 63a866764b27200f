import { describe, expect, it } from "vitest";
import { contextEdits } from "./api-clearing.ts";

const HOUR_MS = 3_600_000;
const TOOLS = ["Write", "Read", "TodoWrite", "Bash", "AskUserQuestion", "Edit"];

describe("the provider's own clearing", () => {
  it("begins at 180,000 tokens, keeps 3 uses and frees enough to come down to 40,000", () => {
    expect(contextEdits({ toolsInPlay: TOOLS, thinkingOn: false })).toEqual([
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

  it("takes the caller's figures as whole numbers, and none below 0", () => {
    const edits = (triggerTokens: number, targetTokens: number): unknown =>
      contextEdits({ toolsInPlay: ["Read"], thinkingOn: false, triggerTokens, targetTokens })[0];
    const value = (tokens: number): object => ({ type: "input_tokens", value: tokens });
    expect(edits(1_000.6, 400.2)).toMatchObject({ trigger: value(1_001), clear_at_least: value(600) });
    expect(edits(100, 400)).toMatchObject({ trigger: value(100), clear_at_least: value(0) });
    expect(edits(Number.NaN, 400)).toMatchObject({ trigger: value(0), clear_at_least: value(0) });
  });

  it("puts thinking first: all of it is kept, and only the last turn's after an idle hour", () => {
    const thinking = (idleMs: number | undefined): unknown =>
      contextEdits({ toolsInPlay: TOOLS, thinkingOn: true, idleMs })[0];
    expect(thinking(undefined)).toEqual({ type: "clear_thinking_20251015", keep: "all" });
    expect(thinking(HOUR_MS)).toEqual({ type: "clear_thinking_20251015", keep: "all" });
    expect(thinking(HOUR_MS + 1)).toEqual({
      type: "clear_thinking_20251015",
      keep: { type: "thinking_turns", value: 1 },
    });
    expect(contextEdits({ toolsInPlay: TOOLS, thinkingOn: true })).toHaveLength(2);
    expect(contextEdits({ toolsInPlay: TOOLS, thinkingOn: false, idleMs: HOUR_MS * 2 })).toHaveLength(1);
  });

  it("clears nothing where no tool in play is eligible", () => {
    expect(contextEdits({ toolsInPlay: ["TodoWrite"], thinkingOn: false })).toEqual([]);
    expect(contextEdits({ toolsInPlay: [], thinkingOn: false })).toEqual([]);
    expect(contextEdits({ toolsInPlay: TOOLS, tools: [], thinkingOn: true })).toHaveLength(1);
  });

  it("takes the caller's list in place of its own", () => {
    const [edit] = contextEdits({ toolsInPlay: TOOLS, tools: ["TodoWrite", "Edit"], thinkingOn: false });
    expect(edit).toMatchObject({
      exclude_tools: ["AskUserQuestion", "Bash", "Read", "Write"],
      clear_tool_inputs: ["Edit"],
    });
  });

  it("says nothing of tools to spare or inputs to clear where there are none", () => {
    const [edit] = contextEdits({ toolsInPlay: ["Read"], thinkingOn: false });
    expect(edit).not.toHaveProperty("exclude_tools");
    expect(edit).not.toHaveProperty("clear_tool_inputs");
  });

  it("is the same byte for byte, in whatever order and however often the tools are named", () => {
    const bytes = (toolsInPlay: readonly string[]): string =>
      JSON.stringify(contextEdits({ toolsInPlay, thinkingOn: true }));
    expect(bytes([...TOOLS].reverse())).toBe(bytes(TOOLS));
    expect(bytes([...TOOLS, ...TOOLS])).toBe(bytes(TOOLS));
  });

  it("keeps every result that no model has seen, however many calls were made at once", () => {
    const kept = (unseenResults?: number): unknown =>
      contextEdits({ toolsInPlay: ["Read"], thinkingOn: false, unseenResults })[0];
    expect(kept(8)).toMatchObject({ keep: { type: "tool_uses", value: 8 } });
    expect(kept(1)).toEqual(kept());
  });
});
