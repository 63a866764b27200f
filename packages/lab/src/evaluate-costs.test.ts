import { describe, expect, it } from "vitest";
import { pricedModel } from "../../core/src/measure/window/prices.ts";
import { costsOf } from "./evaluate.ts";

const OWN = { "house-model": { input: 2, output: 4, cacheRead: 1, cacheWrite5m: 3, cacheWrite1h: 5 } };
const USAGE = { input_tokens: 1_000_000, output_tokens: 500_000 };

describe("cost of consecutive compactions", () => {
  it("pricedModel keeps a model with user-defined prices and replaces a model without prices with a common one", () => {
    expect(pricedModel("house-model", OWN)).toBe("house-model");
    expect(pricedModel("house-model")).toBe("claude-sonnet-4-5");
  });

  it("costsOf adds the cost of summary calls to the cost of rewriting the prompt cache", () => {
    const calls = [{ usage: USAGE, isWaitedFor: true }];
    const compactions = [{ calls, tokensAfter: 20_000, rewrittenTokens: 1_000_000 }];
    expect(costsOf(compactions as never, "house-model", OWN)).toEqual({ total: 7, calls: 4, rewrites: 3 });
  });
});
