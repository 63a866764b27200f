import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOf, pricesOf, readPrices } from "./prices.ts";

const USAGE = { input_tokens: 1_000_000, output_tokens: 1_000_000, cache_read_input_tokens: 1_000_000 };

describe("custom prices", () => {
  it("prefers custom prices to published ones, by the longest matching name", () => {
    const { prices } = readPrices({
      "gpt-5": { input: 1, output: 8, cacheRead: 0.1 },
      "gpt-5-mini": { input: 0.2, output: 2 },
      "claude-opus-5-5": { input: 1, output: 1 },
    });
    expect(pricesOf("openai/gpt-5", 0, prices)?.output).toBe(8);
    expect(pricesOf("gpt-5-mini-2026", 0, prices)?.output).toBe(2);
    expect(pricesOf("claude-opus-5-5", 0, prices)?.input).toBe(1);
    expect(pricesOf("claude-sonnet-5-5", 0, prices)?.input).toBe(2);
    expect(pricesOf("gpt-4", 0, prices)).toBeUndefined();
    expect(costOf(USAGE, "gpt-5", prices)).toBeCloseTo(9.1, 10);
  });

  it("missing cache prices default to the custom input price or to the five-minute price", () => {
    const { prices } = readPrices({ house: { input: 3, output: 4 } });
    expect(prices.house).toEqual({ input: 3, output: 4, cacheRead: 3, cacheWrite5m: 3, cacheWrite1h: 3 });
    const written = readPrices({ house: { input: 3, output: 4, cacheWrite5m: 5 } }).prices.house;
    expect(written?.cacheWrite1h).toBe(5);
  });

  it("prefers custom prices in an option to those in the settings file", () => {
    const { prices } = readPrices({ house: { input: 1, output: 1 } }, { house: { input: 2, output: 2 } });
    expect(prices.house?.input).toBe(1);
  });

  it.each([
    [{ house: { input: 1 } }],
    [{ house: { input: -1, output: 1 } }],
    [{ house: { input: "1", output: 1 } }],
    [{ house: { input: 1, output: 1, cacheRead: Number.NaN } }],
    [{ house: null }],
    ["cheap"],
    [[1]],
  ])("ignores invalid custom prices with one warning: %j", (given) => {
    const { prices, warnings } = readPrices(given);
    expect(prices).toEqual({});
    expect(warnings).toHaveLength(1);
  });

  it("never returns a negative custom price, whatever JSON value is passed", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { prices } = readPrices(value);
        for (const each of Object.values(prices)) {
          for (const price of Object.values(each)) expect(price).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: 200 },
    );
  });
});
