import { type PriceTable, pricesOf } from "../window/prices.ts";
import { type CacheTtl, writePrice } from "./rates.ts";

export interface Rewriting {
  readonly model: string;
  readonly prices?: PriceTable | undefined;
  readonly cacheTtl?: CacheTtl | undefined;
  readonly contextTokens: number;
  /** What would be written to the cache anew. */
  readonly rewrittenTokens: number;
  /** What could have been cleared, summed over the turns that read it, see `Pace`. */
  readonly carriedTokens: number;
}

/**
 * Whether carrying results along has cost as much by now as getting rid of them would: the moment to stop renting and
 * buy. Earlier, the rewrites cost more than they save; later, the reading does. It needs no forecast, and is never
 * worse than twice what somebody would pay who knew the future.
 */
export function carriedPays(rewriting: Rewriting): boolean {
  const { model, contextTokens, rewrittenTokens, carriedTokens } = rewriting;
  const prices = pricesOf(model, contextTokens, rewriting.prices);
  if (prices === undefined) return false;
  const extra = writePrice(prices, rewriting.cacheTtl) - prices.cacheRead;
  return carriedTokens * prices.cacheRead >= rewrittenTokens * extra;
}
