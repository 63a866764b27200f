import { coder, type Simulator, startSimulator, summaries } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentLoop } from "./agent-loop.case.ts";
import { collectGarbage, Traces } from "./garbage.case.ts";
import type { Form } from "./host-conversation.case.ts";

const WINDOW_TOKENS = 20_000;

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({
    windowTokens: WINDOW_TOKENS,
    behaviors: [summaries("good"), coder({ turns: 100, chattiness: 0.1, inventsPaths: true, seed: 3 })],
  });
});
afterEach(() => simulator.close());

describe.each<Form>(["messages", "entries"])("memory use for a host that keeps %s", (form) => {
  it("the engine keeps only the current conversation in memory and releases compacted messages", async () => {
    const traces = new Traces();
    const loop: AgentLoop = new AgentLoop({
      simulator,
      form,
      resultTokens: 900,
      compactor: { window: { tokens: WINDOW_TOKENS } },
      onTurn: ({ messages }) => traces.add(messages),
    });
    do await loop.run(10);
    while ((traces.count <= 60 || loop.eventsOf("compacted").length < 3) && loop.turns < 150);
    // Runs until two turns compact nothing. Until a turn shows which list the host uses, the engine keeps the
    // list from before a compaction.
    let compactions: number;
    do {
      compactions = loop.eventsOf("compacted").length;
      await loop.run(2);
    } while (loop.eventsOf("compacted").length > compactions && loop.turns < 150);
    loop.lastTurn = undefined;
    collectGarbage();
    expect(loop.eventsOf("compacted").length).toBeGreaterThanOrEqual(3);
    expect(traces.count).toBeGreaterThan(60);
    expect(traces.retainedOutside(loop.conversation.messages)).toBeLessThan(5);
  });

  it("the engine counts about as many tokens after a compaction as the provider does", async () => {
    const loop = new AgentLoop({
      simulator,
      form,
      resultTokens: 900,
      compactor: { window: { tokens: WINDOW_TOKENS } },
    });
    do await loop.run(10);
    while (loop.eventsOf("compacted").length < 5 && loop.turns < 200);
    const judged = loop.eventsOf("compaction-judged");
    for (const [index, { tokensAfter }] of loop.eventsOf("compacted").entries()) {
      const { reportedTokens = 0 } = judged[index] ?? {};
      expect(tokensAfter / reportedTokens).toBeGreaterThan(0.9);
      expect(tokensAfter / reportedTokens).toBeLessThan(1.1);
    }
  });
});
