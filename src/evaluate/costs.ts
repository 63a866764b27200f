import { PER_MILLION } from "../cost/rates.ts";
import { costOf, type PriceTable, pricesOf } from "../window/prices.ts";
import type { ChainedCompaction } from "./chain.ts";
import type { PolicyEvaluation } from "./result.ts";

/** For sessions of models whose prices nobody published: policies can be compared all the same. */
const USUAL_MODEL = "claude-sonnet-4-5";

/** The model whose prices are used for a session of this one. */
export const pricedModel = (model: string | undefined, own?: PriceTable): string =>
  model !== undefined && pricesOf(model, 0, own) !== undefined ? model : USUAL_MODEL;

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
