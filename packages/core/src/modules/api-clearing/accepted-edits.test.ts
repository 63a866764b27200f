import { type Simulator, startSimulator } from "@longhaul/simulator";
import { afterEach, describe, expect, it } from "vitest";
import { Agent, type Call, contextTokens, RESULT_TOKENS, TOOLS } from "../../../../../test/clear/agent.ts";
import { textOf } from "../../../../../test/clear/work.ts";
import type { ContextEdit } from "../../models/port.ts";
import { contextEdits } from "./api-clearing.ts";

const HOUR_MS = 3_600_000;
const usedTools = TOOLS.map(({ name }) => name);
const write: Call = { tool: "Write", input: { file_path: "/a", content: textOf(RESULT_TOKENS) } };
const ask: Call = { tool: "AskUserQuestion" };

describe("tool results and thinking that the provider clears", () => {
  let simulator: Simulator;
  afterEach(() => simulator.close());

  async function start(model: string, calls: readonly Call[], frame: object = {}): Promise<Agent> {
    simulator = await startSimulator();
    const agent = new Agent(simulator, { model });
    for (const call of calls) await agent.step(frame, call);
    return agent;
  }
  const managed = (edits: readonly ContextEdit[]): object => ({ context_management: { edits } });

  it("every model with context management accepts our edits, with and without thinking or a long pause", async () => {
    const adaptive = { thinking: { type: "adaptive" } };
    const enabled = { thinking: { type: "enabled", budget_tokens: 1_024 }, max_tokens: 4_096 };
    const cases = [
      ["claude-opus-5-5", adaptive],
      ["claude-opus-4-6", adaptive],
      ["claude-opus-4-6", {}],
      ["claude-opus-4-5", enabled],
      ["claude-haiku-4-5", enabled],
      ["claude-haiku-4-5", {}],
    ] as const;
    for (const [model, frame] of cases) {
      const thinkingOn = "thinking" in frame;
      const agent = await start(model, [{ thinks: thinkingOn }], frame);
      for (const idleMs of [0, HOUR_MS * 2]) {
        const edits = contextEdits({ usedTools, thinkingOn, idleMs });
        const { changes } = await agent.step({ ...frame, ...managed(edits) }, { thinks: thinkingOn });
        expect(changes).toEqual([]);
      }
      expect(simulator.requests.invalid).toEqual([]);
      await simulator.close();
    }
  });

  it("above the trigger, the provider clears the inputs of writing tools and all results except the newest 3", async () => {
    const agent = await start("claude-opus-4-6", [{}, ask, write, {}, {}, {}]);
    const options = { usedTools, thinkingOn: false, targetTokens: 500 };
    const untouched = await agent.step(managed(contextEdits({ ...options, triggerTokens: 1_000_000 })));
    expect(untouched.appliedEdits).toEqual([]);
    const edited = await agent.step(managed(contextEdits({ ...options, triggerTokens: 3_000 })));
    // Eight calls so far: the newest three are kept, one tool is excluded, and one call also has its input
    // cleared.
    expect(edited.appliedEdits).toMatchObject([{ type: "clear_tool_uses_20250919", cleared_tool_uses: 3 }]);
    const saved = Number(edited.appliedEdits[0]?.cleared_input_tokens);
    expect(saved).toBeGreaterThan(3.8 * RESULT_TOKENS);
    expect(saved).toBeLessThan(4.2 * RESULT_TOKENS);
    expect(contextTokens(edited)).toBeLessThan(contextTokens(untouched) - 2 * RESULT_TOKENS);
  });

  it("the provider clears nothing if clearing would not reach the target size", async () => {
    const agent = await start("claude-opus-4-6", [{}, ask, {}, {}, {}, {}]);
    const edits = contextEdits({ usedTools, thinkingOn: false, triggerTokens: 5_000, targetTokens: 500 });
    expect((await agent.step(managed(edits))).appliedEdits).toEqual([]);
  });

  it("the provider keeps all thinking, but only the last turn's thinking after a pause of over an hour", async () => {
    const frame = { thinking: { type: "adaptive" } };
    const thinks: Call = { thinks: true };
    const agent = await start("claude-opus-5-5", [thinks, thinks], frame);
    agent.say("And now the tides.");
    await agent.step(frame, thinks);
    const kept = await agent.step({ ...frame, ...managed(contextEdits({ usedTools, thinkingOn: true })) });
    expect(kept.appliedEdits).toEqual([]);
    const idle = contextEdits({ usedTools, thinkingOn: true, idleMs: HOUR_MS + 1 });
    const { appliedEdits } = await agent.step({ ...frame, ...managed(idle) });
    expect(appliedEdits).toMatchObject([{ type: "clear_thinking_20251015", cleared_thinking_turns: 1 }]);
    expect(simulator.requests.invalid).toEqual([]);
  });
});
