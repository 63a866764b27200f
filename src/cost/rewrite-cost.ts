import { pricesOf } from "../window/prices.ts";
import { inProportion, type Thresholds } from "../window/thresholds.ts";
import { PER_MILLION, type Priced, writePrice } from "./rates.ts";

/** Gain of a rewrite of the conversation, in dollars, with its parts. */
export interface NetSaving {
  /** `saved` less `rewrite` and `call`; below 0 it does not pay over these turns. */
  readonly dollars: number;
  /** For tokens that the expected turns no longer read. */
  readonly saved: number;
  /** For tokens that are written to the cache anew instead of being read from it. */
  readonly rewrite: number;
  /** For calls that wrote a summary. */
  readonly call: number;
  /** Over how many turns. */
  readonly turns: number;
}

export interface Rewrite extends Priced {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Tokens of it that the provider had in its cache; 0 once that has gone cold. */
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

export interface Rewriting extends Priced {
  readonly contextTokens: number;
  /** Tokens that would be written to the cache anew. */
  readonly rewrittenTokens: number;
  /** Tokens that could have been cleared, summed over the turns that read it, see `Pace`. */
  readonly carriedTokens: number;
}

/**
 * True if carrying results along has cost as much by now as getting rid of them would: the moment to stop renting and
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

/** A summary of nine sections, as models write them. */
const SUMMARY_TOKENS = 6_000;
/** Of what may be put back, usually less than half of it is there. */
const RESTORED_TOKENS = 24_000;

/** Tokens that a compaction leaves, and that the model writes for it, as long as none has shown it. */
export function usualCompaction(
  thresholds: Pick<Thresholds, "size">,
  { overheadTokens, keptTokens }: { readonly overheadTokens: number; readonly keptTokens: number },
): { readonly tokensAfter: number; readonly outputTokens: number } {
  const rest = inProportion(thresholds, SUMMARY_TOKENS + RESTORED_TOKENS);
  return {
    tokensAfter: overheadTokens + keptTokens + rest,
    outputTokens: inProportion(thresholds, SUMMARY_TOKENS),
  };
}
