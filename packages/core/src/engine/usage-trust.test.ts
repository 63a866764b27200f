import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { usage } from "../../../../test/support/builders.ts";
import { type UsageFacts, UsageGuard } from "./usage-trust.ts";

const facts: UsageFacts = {
  usage: usage(1_000, 10, 90_000, 9_000),
  expectedTokens: 100_000,
  anchorTokens: 90_000,
  estimatedRequestTokens: 70_000,
  minTokens: 35_000,
  isOverheadKnown: false,
  maxRatio: 1.65,
  windowTokens: 200_000,
};
const judge = (change: Partial<UsageFacts>) => new UsageGuard().judge({ ...facts, ...change });
const reporting = (tokens: number, change: Partial<UsageFacts> = {}) =>
  judge({ usage: usage(tokens, 10), ...change });

describe("trust in the usage report of one response", () => {
  it("trusts a usage report near the expected size, with or without cached input", () => {
    expect(judge({})).toEqual({ trusted: true, tokens: 100_000 });
    const bare = { input_tokens: 100_000, output_tokens: 1 };
    const nulls = { ...bare, cache_read_input_tokens: null, cache_creation_input_tokens: null };
    expect(judge({ usage: bare }).trusted).toBe(true);
    expect(judge({ usage: nulls }).trusted).toBe(true);
  });

  it.each([
    undefined,
    null,
    "12",
    [],
    {},
    { input_tokens: 5 },
    usage(Number.NaN, 1),
    usage(100_000, Number.NaN),
    usage(1, 1, Number.NaN),
    usage(1, 1, 5, Number.POSITIVE_INFINITY),
    { ...usage(100_000, 1), cache_read_input_tokens: "7" },
  ])("treats the usage report %j as missing", (figures) => {
    expect(judge({ usage: figures })).toEqual({
      trusted: false,
      why: "missing",
      reportedTokens: undefined,
      expectedTokens: 100_000,
    });
  });

  it.each([
    usage(0, 0),
    usage(0, 500),
    usage(-5, 1),
    usage(100_005, 1, -5),
    usage(100_000, -1),
    usage(1, 1, 0, -1),
  ])("distrusts the usage report %j because a figure is negative or the input is zero", (figures) =>
    expect(judge({ usage: figures })).toMatchObject({ trusted: false, why: "not-positive" }),
  );

  it("distrusts a usage report with twice or six times the expected input, or with an absurd output", () => {
    for (const figures of [usage(600_000, 1), usage(200_000, 1), usage(100_000, 1_000_001)]) {
      expect(judge({ usage: figures })).toMatchObject({
        trusted: false,
        why: "too-high",
        expectedTokens: 100_000,
      });
    }
  });

  it("distrusts a usage report above the context's possible growth plus the tokens that a host can add unseen", () => {
    const most = 90_000 * 1.05 + 10_000 * 1.65 + 45_000;
    expect(reporting(most).trusted).toBe(true);
    expect(reporting(most + 1).trusted).toBe(false);
  });

  it("allows fewer unseen tokens in a usage report if the window is smaller", () => {
    const small = {
      windowTokens: 32_000,
      anchorTokens: 10_000,
      expectedTokens: 10_000,
      estimatedRequestTokens: 8_000,
      minTokens: 4_000,
    };
    expect(reporting(10_500 + 8_000, small).trusted).toBe(true);
    expect(reporting(10_500 + 8_001, small).trusted).toBe(false);
  });

  it("distrusts a usage report below the safe lower bound of the estimate, whatever size was expected", () => {
    expect(reporting(34_999)).toMatchObject({ trusted: false, why: "too-low" });
    expect(reporting(35_000).trusted).toBe(true);
    expect(reporting(34_999, { anchorTokens: undefined })).toMatchObject({ why: "too-low" });
    expect(reporting(34_999, { anchorTokens: 100, expectedTokens: 1_000 })).toMatchObject({ why: "too-low" });
    expect(reporting(35_000, { anchorTokens: 500_000, expectedTokens: 500_000 }).trusted).toBe(true);
    expect(reporting(10, { minTokens: 0 }).trusted).toBe(true);
  });

  it("the first usage report may exceed the estimate by up to 100,000 tokens if system prompt and tools are unknown", () => {
    const first = {
      anchorTokens: undefined,
      estimatedRequestTokens: 20_000,
      expectedTokens: 20_000,
      minTokens: 10_000,
    };
    expect(reporting(133_000, first).trusted).toBe(true);
    expect(reporting(133_001, first).trusted).toBe(false);
    expect(reporting(37_000, { ...first, isOverheadKnown: true }).trusted).toBe(true);
    expect(reporting(40_000, { ...first, isOverheadKnown: true })).toMatchObject({ why: "too-high" });
  });

  it("never throws for any usage report and trusts only positive numbers", () => {
    const figure = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(undefined, null, "5", {}, []));
    const anyUsage = fc.oneof(
      fc.anything(),
      fc.record({
        input_tokens: figure,
        output_tokens: figure,
        cache_read_input_tokens: figure,
        cache_creation_input_tokens: figure,
      }),
    );
    const number = fc.double();
    const anyFacts = fc.record({
      usage: anyUsage,
      expectedTokens: number,
      anchorTokens: fc.option(number, { nil: undefined }),
      estimatedRequestTokens: number,
      minTokens: number,
      isOverheadKnown: fc.boolean(),
      maxRatio: number,
      windowTokens: number,
    });
    fc.assert(
      fc.property(fc.array(anyFacts, { maxLength: 20 }), (rows) => {
        const guard = new UsageGuard();
        for (const row of rows) {
          const verdict = guard.judge(row);
          if (verdict.trusted) expect(verdict.tokens > 0 && Number.isFinite(verdict.tokens)).toBe(true);
        }
      }),
    );
  });
});

describe("usage reports above a limit that the provider stated", () => {
  it("never trusts a usage report above the limit that the provider stated", () => {
    const guard = new UsageGuard();
    guard.recordOverflow();
    const stated = { ...facts, windowTokens: 100_000, statedLimitTokens: 100_000 };
    for (let turn = 0; turn < 5; turn++) {
      expect(guard.judge({ ...stated, usage: usage(140_000, 10) })).toMatchObject({ why: "too-high" });
    }
  });

  it("trusts a usage report above the provider's stated limit if the estimate exceeds that limit too", () => {
    const guard = new UsageGuard();
    guard.recordOverflow();
    const stated = { ...facts, estimatedRequestTokens: 130_000, statedLimitTokens: 100_000 };
    expect(guard.judge({ ...stated, usage: usage(140_000, 10) })).toMatchObject({ trusted: true });
  });
});
