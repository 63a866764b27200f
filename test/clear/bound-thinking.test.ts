import type { Clearing } from "@longhaul/core/clear";
import { applyClearing, chooseBySize } from "@longhaul/core/clear";
import { type Simulator, startSimulator } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Agent } from "./agent.ts";

const THINKING = { thinking: { type: "adaptive" } };
const SMALL = { targetTokens: 3_000, minimumSavingTokens: 1_000 };

describe("clearing for a model whose thinking is valid only after unchanged messages", () => {
  let simulator: Simulator;
  let agent: Agent;

  beforeEach(async () => {
    simulator = await startSimulator();
    agent = new Agent(simulator, { model: "claude-opus-5-5", onThinkingMismatch: "fail" });
    // The first tool is never cleared, so the thinking before the first cleared result stays valid.
    await agent.step(THINKING, { thinks: true, tool: "AskUserQuestion" });
    for (let call = 0; call < 6; call++) await agent.step(THINKING, { thinks: true });
  });
  afterEach(() => simulator.close());

  const clear = (bindsThinking: boolean): number => {
    const clearing = chooseBySize(agent.index, SMALL) as Clearing;
    const applied = applyClearing(agent.entries, clearing, { bindsThinking });
    agent.resumeFrom(applied.entries);
    agent.index.applied(clearing);
    return applied.removedThinkingBlocks;
  };
  const thinkingSent = (): number =>
    JSON.stringify(simulator.requests.last?.body).split('"type":"thinking"').length - 1;

  it("the provider accepts requests after clearing, because they omit thinking after the cleared results", async () => {
    expect(clear(true)).toBe(5);
    await agent.step(THINKING, { thinks: true });
    expect(thinkingSent()).toBe(2);
    for (let call = 0; call < 5; call++) await agent.step(THINKING, { thinks: true });
    expect(thinkingSent()).toBe(7);
    expect(clear(true)).toBeGreaterThan(0);
    await agent.step(THINKING, { thinks: true });
    expect(thinkingSent()).toBe(2);
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("the provider would refuse a request after clearing if it still contained all thinking", async () => {
    expect(clear(false)).toBe(0);
    await expect(agent.step(THINKING)).rejects.toMatchObject({ failure: { kind: "thinking-mismatch" } });
  });
});
