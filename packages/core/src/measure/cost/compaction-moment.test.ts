import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EarlyCompaction, weighMoment } from "./compaction-moment.ts";

/** Sonnet 5.5, per million tokens: $2.50 to write for five minutes, $0.20 to read. */
const EARLY: EarlyCompaction = {
  model: "claude-sonnet-5-5",
  contextTokens: 140_000,
  cachedTokens: 140_000,
  thresholdTokens: 160_000,
  growthPerTurn: 1_000,
  expectedTurns: 100,
  compaction: { tokensAfter: 60_000, unchangedTokens: 20_000, callCost: 0 },
  laterCallCost: 0.08,
};

const chosenFor = (changes: Partial<EarlyCompaction>): string | undefined =>
  weighMoment({ ...EARLY, ...changes })?.chosen;

describe("weighMoment", () => {
  it("compares a compaction now with the same compaction at the threshold", () => {
    const { options = [], expectedTurns, chosen } = weighMoment(EARLY) ?? {};
    const [nothing, compact] = options;
    expect(expectedTurns).toBe(20);
    // Reads 140,000 tokens (0.028), and writes 1,000 new tokens a second time at the threshold (0.0023).
    expect(nothing?.costPerTurn).toBeCloseTo(0.0303, 10);
    // The next call (0.028), 19 more, and the rewrite of 40,000 tokens at the threshold (0.092).
    expect(nothing?.total).toBeCloseTo(0.6957, 10);
    // Reads 20,000 tokens (0.004) and writes 40,000 (0.1).
    expect(compact?.costNow).toBeCloseTo(0.104, 10);
    // Reads 60,000 tokens (0.012). A later call (0.08) and rewrite (0.092) follow 100 turns later.
    expect(compact?.costPerTurn).toBeCloseTo(0.01372, 10);
    expect(compact?.tokensSaved).toBe(80_000);
    // Costs 0.076 more now, and 0.01658 less in each later turn.
    expect(compact?.breakEvenTurns).toBe(6);
    expect(chosen).toBe("compact");
  });

  it("waits for the threshold if an early compaction only makes compactions more frequent", () => {
    const small = { contextTokens: 28_000, cachedTokens: 28_000, thresholdTokens: 33_000 };
    const compaction = { tokensAfter: 19_000, unchangedTokens: 10_000, callCost: 0 };
    expect(chosenFor({ ...small, compaction, growthPerTurn: 1_000 })).toBe("nothing");
  });

  it("compacts before the next call if the cache has expired, because that call would write everything again", () => {
    const small = { contextTokens: 28_000, thresholdTokens: 33_000 };
    const compaction = { tokensAfter: 19_000, unchangedTokens: 10_000, callCost: 0 };
    expect(chosenFor({ ...small, compaction, cachedTokens: 28_000 })).toBe("nothing");
    expect(chosenFor({ ...small, compaction, cachedTokens: 0 })).toBe("compact");
  });

  it("never chooses an early compaction that saves little or nothing", () => {
    for (const tokensAfter of [100_000, 139_999, 140_000, 150_000]) {
      const compaction = { tokensAfter, unchangedTokens: 20_000, callCost: 0 };
      expect(chosenFor({ compaction, cachedTokens: 0 })).toBe("nothing");
    }
  });

  it("returns nothing for unknown prices, and if the result would reach the threshold", () => {
    expect(weighMoment({ ...EARLY, model: "house-model" })).toBeUndefined();
    expect(weighMoment({ ...EARLY, thresholdTokens: 60_000 })).toBeUndefined();
  });

  it("the larger the context, the more an early compaction saves, for any sizes", () => {
    const size = fc.integer({ min: 0, max: 1_000_000 });
    fc.assert(
      fc.property(
        size,
        size,
        size,
        fc.nat(20_000),
        fc.integer({ min: 1, max: 100 }),
        (a, b, c, growth, turns) => {
          const [unchangedTokens = 0, tokensAfter = 0, contextTokens = 0] = [a, b, c].toSorted(
            (x, y) => x - y,
          );
          const savingAt = (tokens: number): number | undefined => {
            const situation = { ...EARLY, contextTokens: tokens, cachedTokens: tokens, expectedTurns: turns };
            const compaction = { tokensAfter, unchangedTokens, callCost: 0 };
            const weighing = weighMoment({
              ...situation,
              compaction,
              growthPerTurn: growth,
              thresholdTokens: 2_000_000,
            });
            const [nothing, compact] = weighing?.options ?? [];
            expect(nothing?.total).toBeGreaterThanOrEqual(0);
            expect(compact?.total).toBeGreaterThanOrEqual(0);
            return (nothing?.costPerTurn ?? 0) - (compact?.costPerTurn ?? 0);
          };
          expect(savingAt(contextTokens + 50_000)).toBeGreaterThanOrEqual(savingAt(contextTokens) ?? 0);
        },
      ),
      { numRuns: 200 },
    );
  });
});
