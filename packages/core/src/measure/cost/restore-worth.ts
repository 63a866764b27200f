import { pricesOf } from "../window/prices.ts";
import { cacheWritePrice, PER_MILLION, type PricingContext } from "./rewrite-cost.ts";

/**
 * Share of the most recently used files that the agent uses again within 30 calls after a compaction. Recorded
 * sessions were replayed in windows of 50,000 and 200,000 tokens. The agent used the newest file again in 52
 * of 133 cases, and the next four in 30 of 161.
 */
const REUSE_SHARE = { newest: 0.4, older: 0.2 } as const;

/** Output tokens of a call that reads a file: a path, and a few words around it. */
const FETCH_OUTPUT_TOKENS = 150;

export interface RestoreSituation extends PricingContext {
  /** Tokens of the context after the compaction. A call that reads a file reads the context again. */
  readonly contextTokens: number;
  /** Calls that carry a restored file, until the next compaction at the latest. */
  readonly turns: number;
}

/**
 * Returns the size up to which restoring a file costs less than letting the agent read it again when needed.
 * `rank` counts from 0, the most recently used file. Returns undefined if the prices are unknown.
 *
 * A restored file is written to the cache and read in each later call. A file that is not restored costs the
 * same from the middle of these calls on, plus one call, but only if the agent needs it.
 */
export function worthRestoringTokens(rank: number, situation: RestoreSituation): number | undefined {
  const { model, contextTokens, turns, cacheTtl } = situation;
  const prices = pricesOf(model, contextTokens, situation.prices);
  if (prices === undefined) return undefined;
  const share = rank === 0 ? REUSE_SHARE.newest : REUSE_SHARE.older;
  const fetch = contextTokens * prices.cacheRead + FETCH_OUTPUT_TOKENS * prices.output;
  const write = cacheWritePrice(prices, cacheTtl);
  // The cost of a restored token, minus what reading the file later costs for the same token.
  const perToken = (write * (1 - share) + prices.cacheRead * turns * (1 - share / 2)) / PER_MILLION;
  return perToken > 0 ? Math.floor((share * fetch) / PER_MILLION / perToken) : Number.POSITIVE_INFINITY;
}
