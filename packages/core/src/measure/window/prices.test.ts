import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOf, pricesOf } from "./prices.ts";

describe("pricesOf", () => {
  it.each([
    ["claude-fable-5-1", [10, 50, 12.5, 20, 0.25]],
    ["claude-mythos-5-1", [10, 50, 12.5, 20, 0.25]],
    ["claude-opus-5-5", [4, 20, 5, 8, 0.2]],
    ["claude-sonnet-5-5", [2, 10, 2.5, 4, 0.2]],
    ["claude-fable-5", [10, 50, 12.5, 20, 1]],
    ["claude-mythos-5", [10, 50, 12.5, 20, 1]],
    ["claude-opus-5", [5, 25, 6.25, 10, 0.5]],
    ["claude-opus-4-8", [5, 25, 6.25, 10, 0.5]],
    ["claude-opus-4-7", [5, 25, 6.25, 10, 0.5]],
    ["claude-opus-4-6", [5, 25, 6.25, 10, 0.5]],
    ["claude-opus-4-5-20251101", [5, 25, 6.25, 10, 0.5]],
    ["claude-sonnet-5", [2, 10, 2.5, 4, 0.2]],
    ["claude-sonnet-4-6", [3, 15, 3.75, 6, 0.3]],
    ["claude-sonnet-4-5-20250929", [3, 15, 3.75, 6, 0.3]],
    ["claude-haiku-4-5-20251001", [1, 5, 1.25, 2, 0.1]],
  ])("returns the published prices of %s", (model, [input, output, write5m, write1h, read]) => {
    const prices = pricesOf(model);
    expect(prices?.input).toBe(input);
    expect(prices?.output).toBe(output);
    expect(prices?.cacheWrite5m).toBeCloseTo(write5m ?? Number.NaN, 10);
    expect(prices?.cacheWrite1h).toBeCloseTo(write1h ?? Number.NaN, 10);
    expect(prices?.cacheRead).toBeCloseTo(read ?? Number.NaN, 10);
  });

  it("the prices of Haiku 5.5 rise for the whole call if the prompt exceeds 100,000 tokens", () => {
    expect(pricesOf("claude-haiku-5-5", 100_000)).toMatchObject({ input: 0.1, output: 0.5 });
    expect(pricesOf("claude-haiku-5-5", 100_001)).toMatchObject({ input: 0.5, output: 2.5 });
  });

  it.each(["claude-fable-5-2", "claude-opus-4-1", "claude-3-5-sonnet", "gpt-5", ""])(
    "returns no prices for %j, and does not use those of a similar model",
    (model) => expect(pricesOf(model)).toBeUndefined(),
  );

  it("finds prices of a model name with a vendor prefix", () => {
    expect(pricesOf("us.anthropic.claude-opus-4-6-v1")).toEqual(pricesOf("claude-opus-4-6"));
  });
});

describe("costOf", () => {
  it("charges input, output, cache reads and cache writes of a call at their own prices", () => {
    const usage = {
      input_tokens: 1_000_000,
      output_tokens: 1_000_000,
      cache_creation_input_tokens: 2_000_000,
      cache_read_input_tokens: 1_000_000,
      cache_creation: { ephemeral_5m_input_tokens: 1_000_000, ephemeral_1h_input_tokens: 1_000_000 },
    };
    expect(costOf(usage, "claude-sonnet-4-6")).toBeCloseTo(3 + 15 + 3.75 + 6 + 0.3, 10);
  });

  it("charges cache writes of unknown lifetime at the five-minute price", () => {
    const usage = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 1_000_000 };
    expect(costOf(usage, "claude-opus-5-5")).toBeCloseTo(5, 10);
    expect(costOf({ ...usage, cache_creation: null }, "claude-opus-5-5")).toBeCloseTo(5, 10);
  });

  it("costOf treats missing and null figures of a usage report as zero", () => {
    const usage = { input_tokens: 1_000_000, output_tokens: 0, cache_read_input_tokens: null };
    expect(costOf(usage, "claude-haiku-4-5")).toBeCloseTo(1, 10);
  });

  it("charges the price for long prompts if the prompt is long only because of cached tokens", () => {
    const usage = { input_tokens: 1, output_tokens: 0, cache_read_input_tokens: 100_000 };
    expect(costOf(usage, "claude-haiku-5-5")).toBeCloseTo((0.5 + 100_000 * 0.05) / 1_000_000, 12);
  });

  it("returns no cost for a model without known prices", () => {
    expect(costOf({ input_tokens: 1, output_tokens: 1 }, "gpt-5")).toBeUndefined();
  });

  it("the cost of a call never falls if one of its token counts grows", () => {
    const tokens = fc.nat({ max: 60_000 });
    const usage = fc.record({
      input_tokens: tokens,
      output_tokens: tokens,
      cache_creation_input_tokens: tokens,
      cache_read_input_tokens: tokens,
    });
    const part = fc.constantFrom(
      "input_tokens",
      "output_tokens",
      "cache_creation_input_tokens",
      "cache_read_input_tokens",
    );
    const model = fc.constantFrom("claude-opus-5-5", "claude-haiku-5-5", "claude-sonnet-4-5");
    fc.assert(
      fc.property(usage, part, tokens, model, (before, name, more, id) => {
        const after = { ...before, [name]: before[name] + more };
        expect(costOf(after, id) ?? Number.NaN).toBeGreaterThanOrEqual(costOf(before, id) ?? Number.NaN);
      }),
    );
  });
});
