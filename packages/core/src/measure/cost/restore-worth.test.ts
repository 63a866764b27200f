import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type RestoreSituation, worthRestoringTokens } from "./restore-worth.ts";

/** Opus 5, per million tokens: $25 for output, $6.25 to write for five minutes, $0.50 to read. */
const SITUATION: RestoreSituation = { model: "claude-opus-5", contextTokens: 45_000, turns: 50 };

describe("worthRestoringTokens", () => {
  it("restores a file if it costs less than a second read of it, given how often the agent needs it", () => {
    // A second read costs 45,000 × 0.50 + 150 × 25 = 26,250 millionths, in 4 of 10 cases: 10,500. Each restored
    // token costs 6.25 + 50 × 0.50 = 31.25, of which 0.4 × (6.25 + 25 × 0.50) = 7.5 are paid anyway.
    expect(worthRestoringTokens(0, SITUATION)).toBe(Math.floor(10_500 / 23.75));
    // Older files are needed in 2 of 10 cases.
    expect(worthRestoringTokens(1, SITUATION)).toBe(Math.floor(5_250 / 27.5));
    expect(worthRestoringTokens(4, SITUATION)).toBe(worthRestoringTokens(1, SITUATION));
  });

  it("returns undefined for a model without known prices", () => {
    expect(worthRestoringTokens(0, { ...SITUATION, model: "house-model" })).toBeUndefined();
  });

  it("restores larger files in a larger context, and smaller files the longer they are carried", () => {
    const context = fc.integer({ min: 0, max: 1_000_000 });
    fc.assert(
      fc.property(context, fc.integer({ min: 0, max: 100 }), fc.nat(4), (contextTokens, turns, rank) => {
        const worth = (changes: Partial<RestoreSituation>): number =>
          worthRestoringTokens(rank, { ...SITUATION, contextTokens, turns, ...changes }) ?? Number.NaN;
        expect(worth({})).toBeGreaterThanOrEqual(0);
        expect(worth({ contextTokens: contextTokens + 1_000 })).toBeGreaterThanOrEqual(worth({}));
        expect(worth({ turns: turns + 1 })).toBeLessThanOrEqual(worth({}));
      }),
    );
  });

  it("restores no file if the expected turns are unlimited, and any file if everything is free", () => {
    expect(worthRestoringTokens(0, { ...SITUATION, turns: Number.POSITIVE_INFINITY })).toBe(0);
    const free = { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };
    const prices = { "house-model": free };
    expect(worthRestoringTokens(0, { ...SITUATION, model: "house-model", prices })).toBe(
      Number.POSITIVE_INFINITY,
    );
  });
});
