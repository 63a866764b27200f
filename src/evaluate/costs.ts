import { PER_MILLION } from "../cost/rates.ts";
import { costOf, type PriceTable, pricesOf } from "../window/prices.ts";
import type { ChainedCompaction } from "./chain.ts";
import type { PolicyEvaluation } from "./result.ts";

/** What a chain of compactions costs: the calls, and what the provider's cache has to take in anew. */
export function costsOf(
  compactions: readonly ChainedCompaction[],
  model: string,
  own?: PriceTable,
): PolicyEvaluation["cost"] {
  let [calls, rewrites] = [0, 0];
  for (const compaction of compactions) {
    for (const { usage } of compaction.calls) calls += costOf(usage, model, own) ?? 0;
    const prices = pricesOf(model, compaction.tokensAfter, own);
    rewrites += (compaction.rewrittenTokens * (prices?.cacheWrite5m ?? 0)) / PER_MILLION;
  }
  return { total: calls + rewrites, calls, rewrites };
}
