import { type PriceTable, pricesOf } from "../window/prices.ts";
import { type CacheTtl, PER_MILLION, writePrice } from "./rates.ts";

/** What a rewrite of the conversation brings, in dollars, with its parts. */
export interface NetSaving {
  /** `saved` less `rewrite` and `call`; below 0 it does not pay over these turns. */
  readonly dollars: number;
  /** What the expected turns no longer read. */
  readonly saved: number;
  /** What is written to the cache anew instead of being read from it. */
  readonly rewrite: number;
  /** Calls that wrote a summary. */
  readonly call: number;
  /** Over how many turns. */
  readonly turns: number;
}

export interface Rewrite {
  readonly model: string;
  readonly prices?: PriceTable | undefined;
  readonly cacheTtl?: CacheTtl | undefined;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** What the provider had of it in its cache; 0 once that has gone cold. */
  readonly cachedTokens: number;
  /** How many tokens, from the first on, are the same as before. */
  readonly unchangedTokens: number;
  readonly callCost: number;
  readonly turns: number;
}

/** Undefined where the prices are not known. */
export function netSaving(rewritten: Rewrite): NetSaving | undefined {
  const { model, tokensBefore, tokensAfter, cachedTokens, unchangedTokens, callCost, turns } = rewritten;
  const prices = pricesOf(model, tokensBefore, rewritten.prices);
  if (prices === undefined) return undefined;
  const read = prices.cacheRead / PER_MILLION;
  const write = writePrice(prices, rewritten.cacheTtl) / PER_MILLION;
  const freed = tokensBefore - tokensAfter;
  const lostOfCache = Math.max(0, Math.min(cachedTokens, tokensAfter) - unchangedTokens);
  // With a cold cache the next call would have written all of it.
  const saved = freed * (read * (turns - 1) + (cachedTokens > 0 ? read : write));
  const rewrite = lostOfCache * (write - read);
  return { dollars: saved - rewrite - callCost, saved, rewrite, call: callCost, turns };
}
