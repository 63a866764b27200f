import { pricesOf } from "../window/prices.ts";
import { turnsOfRoom } from "./pace.ts";
import {
  type Alternative,
  breakEven,
  cacheWritePrice,
  PER_MILLION,
  promptCost,
  type Situation,
  type Weighing,
} from "./rewrite-cost.ts";

/** A compaction that could run before the threshold. All sizes are in tokens as the provider counts them. */
export interface EarlyCompaction extends Omit<Situation, "alternatives"> {
  /** The result now. `callCost` is 0 if the summary is already written. */
  readonly compaction: Omit<Alternative, "name">;
  /** Cost in dollars of the call for a later summary. */
  readonly laterCallCost: number;
}

/**
 * Smallest saving of a compaction before the threshold, as a share of the messages. A compaction at the
 * threshold must save half as much. Quoted facts can still reduce the saving of an early one, and a failed
 * compaction would cost its summary.
 */
const LEAST_SAVED_SHARE = 0.4;

/**
 * Compares a compaction now with the same compaction at the threshold. Returns undefined if the prices are
 * unknown.
 *
 * The rewrite itself costs the same now and later. Three figures differ:
 * - Waiting reads the old messages again in each call. With an expired cache, the next call writes them again.
 * - Waiting keeps the messages that arrive meanwhile beside the summary, so they are written twice.
 * - A compaction now brings the next compaction forward by as many turns as it comes early.
 */
export function weighMoment(early: EarlyCompaction): Weighing | undefined {
  const { model, contextTokens, cachedTokens, thresholdTokens, growthPerTurn, cacheTtl } = early;
  const { tokensAfter, unchangedTokens, callCost = 0 } = early.compaction;
  const prices = pricesOf(model, contextTokens, early.prices);
  const cycle = turnsOfRoom(thresholdTokens - tokensAfter, growthPerTurn);
  if (prices === undefined || cycle === 0) return undefined;
  const read = prices.cacheRead / PER_MILLION;
  const again = (cacheWritePrice(prices, cacheTtl) - prices.cacheRead) / PER_MILLION;
  const room = turnsOfRoom(thresholdTokens - contextTokens, growthPerTurn);
  const turns = Math.max(1, Math.min(early.expectedTurns, room));
  const rewrite = Math.max(0, tokensAfter - unchangedTokens) * again;
  const costNow = {
    nothing: promptCost({ tokens: contextTokens, cachedTokens }, prices, cacheTtl),
    compact:
      callCost +
      promptCost(
        { tokens: tokensAfter, cachedTokens: Math.min(unchangedTokens, cachedTokens) },
        prices,
        cacheTtl,
      ),
  };
  const perTurn = {
    nothing: contextTokens * read + growthPerTurn * again,
    compact: tokensAfter * read + (early.laterCallCost + rewrite) / cycle,
  };
  // Waiting pays for this compaction at the threshold.
  const total = {
    nothing: costNow.nothing + perTurn.nothing * (turns - 1) + rewrite + callCost,
    compact: costNow.compact + perTurn.compact * (turns - 1),
  };
  const tokensSaved = contextTokens - tokensAfter;
  const isLarge = tokensSaved >= LEAST_SAVED_SHARE * (contextTokens - unchangedTokens);
  const nothing = { costNow: costNow.nothing, costPerTurn: perTurn.nothing, tokensSaved: 0 };
  const compact = { costNow: costNow.compact, costPerTurn: perTurn.compact, tokensSaved };
  return {
    options: [
      { name: "nothing", ...nothing, total: total.nothing, breakEvenTurns: 0 },
      { name: "compact", ...compact, total: total.compact, breakEvenTurns: breakEven(nothing, compact) },
    ],
    expectedTurns: turns,
    chosen: isLarge && total.compact < total.nothing ? "compact" : "nothing",
    why: "cheapest",
  };
}
