import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectedTurns } from "./pace.ts";
import {
  type Alternative,
  type Situation,
  type WeighedOption,
  type Weighing,
  weigh,
} from "./rewrite-cost.ts";

/** Sonnet 5.5, per million tokens: $2.50 to write for five minutes, $0.20 to read. */
const SONNET = "claude-sonnet-5-5";
const WARM: Situation = {
  model: SONNET,
  contextTokens: 500_000,
  cachedTokens: 500_000,
  thresholdTokens: 967_000,
  growthPerTurn: 0,
  expectedTurns: 11,
  alternatives: [],
};
const CLEAR: Alternative = { name: "clear", tokensAfter: 300_000, unchangedTokens: 200_000 };
const COMPACT: Alternative = {
  name: "compact",
  tokensAfter: 40_000,
  unchangedTokens: 20_000,
  callCost: 0.16,
};

const known = (situation: Situation): Weighing => {
  const weighing = weigh(situation);
  if (weighing === undefined) throw new Error("the prices should be known");
  return weighing;
};
const option = ({ options }: Weighing, name: WeighedOption["name"]): WeighedOption => {
  const found = options.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no option ${name}`);
  return found;
};

describe("costs of doing nothing, clearing and compacting, compared with manual calculations", () => {
  it("doing nothing costs one read of the whole prompt from the cache per call", () => {
    const nothing = option(known(WARM), "nothing");
    // 500,000 × $0.20 per million.
    expect(nothing.costNow).toBeCloseTo(0.1, 10);
    expect(nothing.costPerTurn).toBeCloseTo(0.1, 10);
    expect(nothing.total).toBeCloseTo(1.1, 10);
  });

  it("clearing rewrites everything after the first cleared result once, and then reads less", () => {
    const weighing = known({ ...WARM, alternatives: [CLEAR] });
    const clear = option(weighing, "clear");
    // Sum of 200,000 tokens read (0.04), 100,000 written (0.25), and a tenth of 200,000 fetched again (0.05).
    expect(clear.costNow).toBeCloseTo(0.34, 10);
    // 300,000 tokens read.
    expect(clear.costPerTurn).toBeCloseTo(0.06, 10);
    expect(clear.total).toBeCloseTo(0.94, 10);
    // The first call costs 0.24 more, and each later call costs 0.04 less. So break-even is six calls after
    // the first.
    expect(clear.breakEvenTurns).toBe(7);
    expect(clear.tokensSaved).toBe(200_000);
    expect(weighing).toMatchObject({ chosen: "clear", why: "cheapest", expectedTurns: 11 });
  });

  it("compacting costs the summary call and writes the tokens that remain", () => {
    const weighing = known({ ...WARM, alternatives: [COMPACT] });
    const compact = option(weighing, "compact");
    // Sum of the summary call (0.16), 20,000 tokens read (0.004), 20,000 written (0.05), and a fifth of
    // 460,000 worked out again (0.23).
    expect(compact.costNow).toBeCloseTo(0.444, 10);
    expect(compact.costPerTurn).toBeCloseTo(0.008, 10);
    expect(compact.total).toBeCloseTo(0.524, 10);
    expect(compact.breakEvenTurns).toBe(5);
  });

  it("writing to the one-hour cache costs twice as much as plain input", () => {
    const clear = option(known({ ...WARM, cacheTtl: "1h", alternatives: [CLEAR] }), "clear");
    // 0.04 to read, plus 100,000 and 20,000 tokens at $4 per million.
    expect(clear.costNow).toBeCloseTo(0.52, 10);
  });

  it("clearing pays off much later if cache reads cost only a fortieth of the input price", () => {
    const clear = option(known({ ...WARM, model: "claude-fable-5-1", alternatives: [CLEAR] }), "clear");
    // The first call costs 0.05 to read, 1.25 to write and 0.25 to fetch again. Doing nothing costs 0.125.
    // Each later call costs 0.05 less.
    expect(clear.costNow).toBeCloseTo(1.55, 10);
    expect(clear.breakEvenTurns).toBe(30);
  });

  it("a rewrite costs nothing with a cold cache, because the next call writes everything in any case", () => {
    const cold = known({ ...WARM, cachedTokens: 0, alternatives: [CLEAR] });
    // 500,000 × $2.50 per million, compared with (300,000 + a tenth of 200,000) × $2.50 per million.
    expect(option(cold, "nothing").costNow).toBeCloseTo(1.25, 10);
    expect(option(cold, "clear").costNow).toBeCloseTo(0.8, 10);
    expect(option(cold, "clear").breakEvenTurns).toBe(0);
  });

  it("includes half of the expected growth in the cost of an average call", () => {
    const nothing = option(known({ ...WARM, growthPerTurn: 10_000 }), "nothing");
    // 500,000 plus half of the growth of 110,000 tokens in 11 turns, at $0.20 per million.
    expect(nothing.costPerTurn).toBeCloseTo(0.111, 10);
  });

  it("expects only as many turns as fit below the threshold, because a rewrite follows at the threshold", () => {
    const full = { contextTokens: 947_000, cachedTokens: 947_000, growthPerTurn: 10_000 };
    const way: Alternative = { ...CLEAR, tokensAfter: 747_000 };
    const near = known({ ...WARM, ...full, alternatives: [way] });
    expect(near.expectedTurns).toBe(2);
    expect(near.chosen).toBe("nothing");
    expect(
      known({ ...WARM, ...full, growthPerTurn: 0, expectedTurns: 100, alternatives: [way] }).chosen,
    ).toBe("clear");
  });

  it("returns no figures for a model without known prices", () => {
    expect(weigh({ ...WARM, model: "gpt-5" })).toBeUndefined();
    const prices = { "gpt-5": { input: 1, output: 8, cacheRead: 0.1, cacheWrite5m: 1, cacheWrite1h: 1 } };
    expect(option(known({ ...WARM, model: "gpt-5", prices }), "nothing").costNow).toBeCloseTo(0.05, 10);
  });
});

describe("weighing at the threshold", () => {
  const FULL: Situation = { ...WARM, contextTokens: 967_000, cachedTokens: 967_000, growthPerTurn: 5_000 };

  it("never chooses to do nothing at the threshold, however cheap that would be", () => {
    const expensive: Alternative = { ...COMPACT, callCost: 1_000 };
    const weighing = known({ ...FULL, alternatives: [expensive] });
    expect(option(weighing, "nothing").total).toBeLessThan(option(weighing, "compact").total);
    expect(weighing).toMatchObject({ chosen: "compact", why: "only-way-below-threshold" });
  });

  it("if an option frees few tokens, multiplies its cost by the number of necessary repetitions", () => {
    const little: Alternative = { name: "clear", tokensAfter: 957_000, unchangedTokens: 700_000 };
    const expensive: Alternative = { ...COMPACT, callCost: 5 };
    const weighing = known({ ...FULL, expectedTurns: 20, alternatives: [little, expensive] });
    const clear = option(weighing, "clear");
    // Clearing once would be cheaper, but it frees tokens for only 2 of the 20 turns.
    expect(clear.costNow + 19 * clear.costPerTurn).toBeLessThan(option(weighing, "compact").total);
    expect(clear.total).toBeCloseTo(10 * clear.costNow + 10 * clear.costPerTurn, 10);
    expect(weighing).toMatchObject({ chosen: "compact", why: "cheapest-below-threshold" });
  });

  it("prefers clearing to a summary at the threshold if clearing frees enough tokens", () => {
    const much: Alternative = { name: "clear", tokensAfter: 100_000, unchangedTokens: 60_000 };
    expect(known({ ...FULL, alternatives: [much, { ...COMPACT, callCost: 0.5 }] }).chosen).toBe("clear");
  });

  it("does not choose an option that stays above the threshold if another gets below it", () => {
    const notEnough: Alternative = { name: "clear", tokensAfter: 967_000, unchangedTokens: 960_000 };
    expect(known({ ...FULL, alternatives: [notEnough, COMPACT] }).chosen).toBe("compact");
  });
});

describe("expectedTurns", () => {
  it("expects as many further turns as there have been so far, but at least 5 and at most 100", () => {
    expect([0, 4, 5, 42, 99, 5_000, Number.NaN].map(expectedTurns)).toEqual([5, 5, 5, 42, 99, 100, 5]);
  });
});

const model = fc.constantFrom(
  SONNET,
  "claude-opus-5-5",
  "claude-fable-5-1",
  "claude-haiku-5-5",
  "claude-opus-4-8",
);
const tokens = fc.integer({ min: 0, max: 1_000_000 });
const share = fc.double({ min: 0, max: 1, noNaN: true });

const situations: fc.Arbitrary<Situation> = fc
  .record({
    model,
    contextTokens: fc.integer({ min: 1, max: 1_000_000 }),
    cached: share,
    thresholdTokens: fc.integer({ min: 1, max: 1_000_000 }),
    growthPerTurn: fc.integer({ min: 0, max: 50_000 }),
    expectedTurns: fc.integer({ min: 1, max: 200 }),
    cacheTtl: fc.constantFrom("5m" as const, "1h" as const),
    ways: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom("clear" as const, "compact" as const),
        left: share,
        unchanged: share,
        callCost: fc.double({ min: 0, max: 5, noNaN: true }),
      }),
      { selector: ({ name }) => name },
    ),
  })
  .map(({ cached, ways, ...rest }) => ({
    ...rest,
    cachedTokens: cached * rest.contextTokens,
    alternatives: ways.map(({ name, left, unchanged, callCost }) => ({
      name,
      callCost,
      tokensAfter: left * rest.contextTokens,
      unchangedTokens: unchanged * left * rest.contextTokens,
    })),
  }));

const extraOf = (weighing: Weighing, name: "clear" | "compact"): number =>
  option(weighing, name).costNow - option(weighing, "nothing").costNow;

describe("choice of an option in random situations", () => {
  it("chooses the cheapest option below the threshold, and the costs of doing nothing add up to their total", () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const { options, chosen, expectedTurns: turns } = known(situation);
        const { contextTokens, thresholdTokens } = situation;
        const safe = options.filter(({ tokensSaved }) => contextTokens - tokensSaved < thresholdTokens);
        const taken = options.find(({ name }) => name === chosen);
        if (safe.length > 0) expect(Math.min(...safe.map(({ total }) => total))).toBe(taken?.total);
        for (const { costNow, costPerTurn, total, breakEvenTurns } of options) {
          for (const figure of [costNow, costPerTurn, total]) expect(figure).toBeGreaterThanOrEqual(0);
          expect(total).toBeGreaterThanOrEqual(Math.min(costNow, total));
          if (breakEvenTurns !== undefined) expect(breakEvenTurns).toBeGreaterThanOrEqual(0);
        }
        const [nothing] = options;
        expect(nothing?.total).toBeCloseTo(
          (nothing?.costNow ?? 0) + (nothing?.costPerTurn ?? 0) * (turns - 1),
          8,
        );
      }),
      { numRuns: 300 },
    );
  });

  it("more expected turns never reduce the saving of clearing", () => {
    fc.assert(
      fc.property(situations, tokens, fc.nat(100), (situation, left, more) => {
        const contextTokens = situation.thresholdTokens * 0.7;
        const alternatives: readonly Alternative[] = [
          { name: "clear", tokensAfter: (left / 1_000_000) * contextTokens, unchangedTokens: 0 },
        ];
        const few = { ...situation, contextTokens, cachedTokens: contextTokens, alternatives };
        const gain = (each: Situation): number =>
          option(known(each), "nothing").total - option(known(each), "clear").total;
        const many = { ...few, expectedTurns: few.expectedTurns + more };
        expect(gain(many)).toBeGreaterThanOrEqual(gain(few) - 1e-9);
      }),
      { numRuns: 300 },
    );
  });

  it("a cold cache never makes a rewrite more expensive compared with doing nothing", () => {
    fc.assert(
      fc.property(situations, (situation) => {
        // Sonnet has one price for all prompt sizes. Haiku 5.5 charges less for a smaller prompt.
        const one = { ...situation, model: SONNET };
        const cold = known({ ...one, cachedTokens: 0 });
        for (const { name } of one.alternatives) {
          expect(extraOf(cold, name)).toBeLessThanOrEqual(extraOf(known(one), name) + 1e-9);
        }
      }),
      { numRuns: 300 },
    );
  });
});
