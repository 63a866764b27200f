import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, usage } from "../../../../../test/support/builders.ts";
import { SUMMARY_BUDGET_TOKENS } from "../summary/summary-budget.ts";
import { type Feasibility, fitToTarget } from "./compaction-plan.ts";
import type { KnownMeasures, Snapshot } from "./sized.ts";

/** Builds a short conversation with an overhead of this many tokens, which no compaction can remove. */
function snapshot(overheadTokens: number): Snapshot {
  const c = new ConversationBuilder();
  c.user("hi");
  c.assistant("ok", { usage: usage(overheadTokens, 1) });
  return { entries: c.entries };
}

/** Measures of two messages with this many tokens together and an overhead of 20,000. */
const measured = (messageTokens: number): KnownMeasures => ({
  tokensOf: () => messageTokens / 2,
  ratio: 1,
  overheadTokens: 20_000,
  context: {
    tokens: 20_000 + messageTokens,
    source: "usage",
    reportedTokens: 20_000 + messageTokens,
    estimatedTokens: 0,
    paddedTokens: 20_000 + messageTokens,
  },
});

const granted = (
  overheadTokens: number,
  targetTokens: number,
  wishes: { keepRecentTokens?: number; restoreBudgetTokens?: number } = {},
): Feasibility => fitToTarget(snapshot(overheadTokens), { targetTokens, summaryTokens: 8_000, ...wishes });

describe("fitToTarget", () => {
  it("grants all requested token budgets when they fit into the target", () => {
    expect(granted(20_000, 167_000, { keepRecentTokens: 10_000, restoreBudgetTokens: 50_000 })).toMatchObject(
      {
        feasible: true,
        keepRecentTokens: 10_000,
        restoreBudgetTokens: 50_000,
        summaryTokens: 8_000,
      },
    );
  });

  it("shrinks restored content, then kept messages, and limits the summary to half of the available tokens", () => {
    const wishes = { keepRecentTokens: 10_000, restoreBudgetTokens: 50_000 };
    expect(granted(20_000, 60_000, wishes)).toMatchObject({ keepRecentTokens: 10_000, summaryTokens: 8_000 });
    const small = granted(20_000, 38_000, wishes);
    expect(small).toMatchObject({
      restoreBudgetTokens: 2_000,
      keepRecentTokens: 8_003,
      summaryTokens: 8_000,
    });
    const smaller = granted(20_000, 25_000, wishes);
    expect(smaller).toMatchObject({
      restoreBudgetTokens: 1_000,
      keepRecentTokens: 2_002,
      summaryTokens: 2_001,
    });
    expect(granted(20_000, 20_800, wishes)).toMatchObject({ summaryTokens: 600 });
  });

  it("keeps 10,000 tokens of messages by default, at most a tenth of the target and a quarter of all messages", () => {
    const keptOf = (messageTokens: number, targetTokens: number): Feasibility =>
      fitToTarget(snapshot(20_000), {
        targetTokens,
        measured: measured(messageTokens),
        summaryTokens: 8_000,
      });
    expect(keptOf(150_000, 167_000)).toMatchObject({ keepRecentTokens: 10_000 });
    expect(keptOf(150_000, 90_000)).toMatchObject({ keepRecentTokens: 9_000 });
    expect(keptOf(40_000, 42_000)).toMatchObject({ keepRecentTokens: 4_200 });
    expect(keptOf(12_000, 90_000)).toMatchObject({ keepRecentTokens: 3_000 });
  });

  it("reports the smallest possible conversation size when it exceeds the target", () => {
    const { feasible, floorTokens } = granted(30_000, 30_500);
    expect(feasible).toBe(false);
    expect(floorTokens).toBeGreaterThan(30_500);
  });

  it("reports a target as infeasible when it equals the smallest possible conversation size", () => {
    const { floorTokens } = granted(30_000, 100_000);
    expect(granted(30_000, floorTokens).feasible).toBe(false);
    expect(granted(30_000, floorTokens + 1).feasible).toBe(true);
  });

  it("fitToTarget assumes the summary size that the caller passes, or else the default summary budget", () => {
    const summaryTokens = (wished: number | undefined): unknown =>
      fitToTarget(snapshot(20_000), { targetTokens: 167_000, summaryTokens: wished });
    expect(summaryTokens(2_000)).toMatchObject({ summaryTokens: 2_000 });
    expect(summaryTokens(undefined)).toMatchObject({ summaryTokens: SUMMARY_BUDGET_TOKENS });
  });

  it("finds sizes below the target exactly if the smallest possible size is below the target", () => {
    const tokens = fc.nat(200_000);
    fc.assert(
      fc.property(tokens, tokens, tokens, tokens, (overhead, targetTokens, keepRecentTokens, restore) => {
        const wishes = { keepRecentTokens, restoreBudgetTokens: restore };
        const found = granted(overhead, targetTokens, wishes);
        expect(found.feasible).toBe(found.floorTokens < targetTokens);
        if (!found.feasible) return;
        const floorOfOthers = found.floorTokens - 600;
        const parts = found.keepRecentTokens + found.restoreBudgetTokens + found.summaryTokens;
        expect(floorOfOthers + parts).toBeLessThan(targetTokens);
        expect(found.keepRecentTokens).toBeLessThanOrEqual(keepRecentTokens);
        expect(found.restoreBudgetTokens).toBeLessThanOrEqual(restore);
      }),
    );
  });
});
