import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { netSaving, type Rewrite } from "./rewrite-cost.ts";

/** Sonnet 5.5, per million tokens: $2.50 to write for five minutes, $0.20 to read. */
const CLEARED: Rewrite = {
  model: "claude-sonnet-5-5",
  tokensBefore: 500_000,
  tokensAfter: 300_000,
  cachedTokens: 500_000,
  unchangedTokens: 200_000,
  callCost: 0,
  turns: 10,
};

describe("netSaving", () => {
  it("clearing saves the cache reads of ten calls, minus the cost of writing the changed tokens again", () => {
    const saving = netSaving(CLEARED);
    // 10 × 200,000 × 0.20, minus 100,000 × (2.50 − 0.20).
    expect(saving?.saved).toBeCloseTo(0.4, 10);
    expect(saving?.rewrite).toBeCloseTo(0.23, 10);
    expect(saving?.dollars).toBeCloseTo(0.17, 10);
  });

  it("subtracts the cost of the summary call from the saving of a compaction", () => {
    expect(netSaving({ ...CLEARED, callCost: 0.2 })?.dollars).toBeCloseTo(-0.03, 10);
  });

  it("with a cold cache, a rewrite costs nothing and saves cache writes in the next call", () => {
    const saving = netSaving({ ...CLEARED, cachedTokens: 0 });
    expect(saving?.rewrite).toBe(0);
    // 200,000 × 2.50 for the first call, then 9 × 200,000 × 0.20.
    expect(saving?.saved).toBeCloseTo(0.86, 10);
  });

  it("edits that keep the whole cached prefix have no rewrite cost", () => {
    expect(netSaving({ ...CLEARED, unchangedTokens: 500_000 })?.rewrite).toBe(0);
  });

  it("returns no saving for a model without known prices", () => {
    expect(netSaving({ ...CLEARED, model: "house-model" })).toBeUndefined();
  });

  it("the net saving is the sum of its parts, and is never lower with a cold cache", () => {
    const figure = fc.integer({ min: 0, max: 1_000_000 });
    fc.assert(
      fc.property(figure, figure, figure, fc.integer({ min: 1, max: 100 }), (before, gone, same, turns) => {
        const tokensBefore = Math.max(before, gone);
        const tokensAfter = tokensBefore - gone;
        const rewritten = { ...CLEARED, tokensBefore, tokensAfter, cachedTokens: tokensBefore, turns };
        const warm = netSaving({ ...rewritten, unchangedTokens: Math.min(same, tokensAfter), callCost: 0.1 });
        const cold = netSaving({ ...rewritten, cachedTokens: 0, callCost: 0.1 });
        if (warm === undefined || cold === undefined) throw new Error("the prices should be known");
        expect(warm.dollars).toBeCloseTo(warm.saved - warm.rewrite - warm.call, 10);
        expect(warm.rewrite).toBeGreaterThanOrEqual(0);
        expect(cold.dollars).toBeGreaterThanOrEqual(warm.dollars - 1e-9);
      }),
      { numRuns: 200 },
    );
  });
});
