import type { CompactionPlan } from "../compaction/plan/compaction-plan.ts";
import type { FileWorth } from "../compaction/restore/restored.ts";
import type { SummaryAttempt } from "../compaction/write/attempts.ts";
import { weighMoment } from "../measure/cost/compaction-moment.ts";
import { turnsOfRoom } from "../measure/cost/pace.ts";
import { worthRestoringTokens } from "../measure/cost/restore-worth.ts";
import {
  type Alternative,
  isClearingDue,
  type NetSaving,
  netSaving,
  type Rewriting,
  type Situation,
  type Weighing,
  weigh,
} from "../measure/cost/rewrite-cost.ts";
import { costOf } from "../measure/window/prices.ts";
import { type CostParts, situationOf, usualSizes } from "./cost-situation.ts";
import { skipReasonFor } from "./health.ts";
import type { Needs } from "./parts.ts";
import { summaryCallCost } from "./summary-cost.ts";

/**
 * Below this share of the threshold, enough tokens are free. Clearing results would only make the agent fetch
 * the results again.
 */
const EARLIEST_SHARE = 0.5;
/**
 * The length of a conversation is unknown, so an early action must pay within this share of the expected
 * turns.
 */
const CAREFUL_SHARE = 0.5;

/** The figures that determine the cost of a clearing, in provider tokens. */
export interface ClearingSize {
  readonly tokensSaved: number;
  /** Tokens from the first cleared result to the end, before the clearing. */
  readonly tokensFromFirst: number;
}

/**
 * Calls that an agent makes while a summary is written. A summary takes about a minute, and in recorded
 * sessions half of the calls follow the previous one within 11 seconds.
 */
export const CALLS_DURING_SUMMARY = 5;

type Occasion = "early" | "cold" | "full";

/** Returns true if clearing before the threshold is clearly cheaper than keeping the results. */
export function paysToClearEarly(parts: CostParts, clearing: ClearingSize): boolean {
  if (parts.modules.headroomBy !== undefined) return false;
  const isCold = parts.cache.isCold;
  const { tokens } = parts.gauge.size();
  if (!isCold && tokens < parts.gauge.thresholds.autoCompact * EARLIEST_SHARE) return false;
  const situation = situationOf(parts);
  if (situation === undefined) return false;
  const rewriting: Rewriting = {
    model: situation.model,
    prices: situation.prices,
    cacheTtl: situation.cacheTtl,
    contextTokens: tokens,
    rewrittenTokens: clearing.tokensFromFirst - clearing.tokensSaved,
    carriedTokens: parts.pace.carriedTokens,
  };
  if (!isCold && !isClearingDue(rewriting)) return false;
  const weighing = weigh({ ...situation, alternatives: [clearingAlternative(tokens, clearing)] });
  if (weighing?.chosen !== "clear" || !paysClearly(weighing, weighing.expectedTurns)) return false;
  reportWeighing(parts, weighing, isCold ? "cold" : "early");
  return true;
}

/**
 * Returns true if a compaction before the threshold is clearly cheaper than the same compaction at the
 * threshold. Returns undefined if the prices are unknown.
 */
export function paysToCompactEarly(parts: CostParts): boolean | undefined {
  const weighing = weighMomentNow(parts);
  return weighing && isClearlyDue(weighing, parts);
}

/** Does the same for a compaction that follows at once if it pays, and reports the figures in that case. */
export function decideToCompactEarly(parts: CostParts): boolean {
  const weighing = weighMomentNow(parts);
  if (weighing === undefined || !isClearlyDue(weighing, parts)) return false;
  reportWeighing(parts, weighing, parts.cache.isCold ? "cold" : "early");
  return true;
}

const isClearlyDue = (weighing: Weighing, { pace }: Needs<"pace">): boolean =>
  weighing.chosen === "compact" && paysClearly(weighing, pace.expectedTurns);

function weighMomentNow(parts: CostParts): Weighing | undefined {
  const situation = situationOf(parts);
  if (situation === undefined) return undefined;
  const { contextTokens, thresholdTokens, growthPerTurn } = situation;
  const { outputTokens } = usualSizes(parts);
  const prepared = parts.background.preparedResult();
  const expected = compactionAlternative(parts, contextTokens, situation, prepared);
  // The size of a prepared compaction is known. It includes the messages that arrived since.
  const arriving = prepared?.tokensAfter === undefined ? growthPerTurn * CALLS_DURING_SUMMARY : 0;
  const compaction = { ...expected, tokensAfter: expected.tokensAfter + arriving };
  const later = { ...situation, cachedTokens: thresholdTokens };
  const laterCallCost = summaryCallCost(parts, { contextTokens: thresholdTokens, outputTokens }, later);
  return weighMoment({ ...situation, compaction, laterCallCost });
}

/**
 * Returns the size up to which it pays to restore a file, by its rank. Returns undefined if the prices are
 * unknown.
 */
export function fileWorth(
  parts: CostParts,
  { overheadTokens, keptTokens }: Pick<CompactionPlan, "overheadTokens" | "keptTokens">,
): FileWorth | undefined {
  const situation = situationOf(parts);
  if (situation === undefined) return undefined;
  const { thresholdTokens, growthPerTurn, expectedTurns } = situation;
  const contextTokens = overheadTokens + keptTokens + usualSizes(parts).outputTokens;
  const turns = Math.min(expectedTurns, turnsOfRoom(thresholdTokens - contextTokens, growthPerTurn));
  return (rank) =>
    worthRestoringTokens(rank, { ...situation, contextTokens, turns }) ?? Number.POSITIVE_INFINITY;
}

/** Returns true if the chosen option pays off long before the expected end of the conversation. */
function paysClearly({ options, chosen }: Weighing, expectedTurns: number): boolean {
  const { breakEvenTurns } = options.find(({ name }) => name === chosen) ?? {};
  return breakEvenTurns !== undefined && breakEvenTurns <= expectedTurns * CAREFUL_SHARE;
}

/**
 * Returns true if the engine should clear results at the threshold, and not compact at once. Also returns
 * true if no compaction is possible. If the prices are unknown, returns true unless a background summary is
 * ready.
 */
export function paysToClearAtThreshold(parts: CostParts, clearing: ClearingSize | undefined): boolean {
  const weighing = weighAtThreshold(parts, clearing);
  if (weighing === undefined) return !mayCompact(parts) || parts.background.preparedResult() === undefined;
  reportWeighing(parts, weighing, "full");
  return weighing.chosen !== "compact";
}

/** Predicts whether the engine will clear results at the threshold. */
export function willClearAtThreshold(parts: CostParts, clearing: ClearingSize): boolean {
  return weighAtThreshold(parts, clearing)?.chosen !== "compact";
}

function weighAtThreshold(parts: CostParts, clearing: ClearingSize | undefined): Weighing | undefined {
  const situation = mayCompact(parts) ? situationOf(parts) : undefined;
  if (situation === undefined) return undefined;
  const contextTokens = Math.max(situation.contextTokens, situation.thresholdTokens);
  const alternatives = [
    ...(clearing === undefined ? [] : [clearingAlternative(contextTokens, clearing)]),
    compactionAlternative(parts, contextTokens, situation),
  ];
  return weigh({ ...situation, contextTokens, alternatives });
}

/** Returns the net saving of a completed clearing or compaction, after the cost of its rewrite. */
export function netSavingOf(
  parts: CostParts,
  rewritten: {
    readonly tokensBefore: number;
    readonly tokensAfter: number;
    readonly unchangedTokens: number;
    readonly attempts?: readonly SummaryAttempt[];
  },
): NetSaving | undefined {
  const situation = situationOf(parts);
  const { attempts = [], tokensBefore, ...rest } = rewritten;
  const callCost = costOfCalls(parts, attempts);
  if (situation === undefined || callCost === undefined) return undefined;
  const { model, prices, cacheTtl, expectedTurns: turns } = situation;
  const cachedTokens = parts.cache.isCold ? 0 : tokensBefore;
  return netSaving({ model, prices, cacheTtl, tokensBefore, ...rest, cachedTokens, callCost, turns });
}

/** Returns the cost of the calls. Returns undefined if the price of a call is unknown. */
export function costOfCalls(
  { options }: Needs<"options">,
  attempts: readonly SummaryAttempt[],
): number | undefined {
  let dollars = 0;
  for (const { usage, model } of attempts) {
    if (usage === undefined) continue;
    const cost = costOf(usage, model ?? "", options.prices);
    if (cost === undefined) return undefined;
    dollars += cost;
  }
  return dollars;
}

/**
 * Returns true if a compaction is possible now. If not, the engine clears first, without a comparison of
 * costs.
 */
function mayCompact(parts: CostParts): boolean {
  const { health, thread } = parts;
  if (health.isResting() || health.strikes > 0 || thread.meter.isUnreported) return false;
  return skipReasonFor("auto", parts) === undefined;
}

const clearingAlternative = (
  contextTokens: number,
  { tokensSaved, tokensFromFirst }: ClearingSize,
): Alternative => ({
  name: "clear",
  tokensAfter: contextTokens - tokensSaved,
  unchangedTokens: contextTokens - tokensFromFirst,
});

function compactionAlternative(
  parts: CostParts,
  contextTokens: number,
  situation: Omit<Situation, "alternatives">,
  prepared = parts.background.preparedResult(),
): Alternative {
  const usual = usualSizes(parts);
  const { outputTokens } = usual;
  return {
    name: "compact",
    tokensAfter: prepared?.tokensAfter ?? parts.pace.compactedTo ?? usual.tokensAfter,
    unchangedTokens: parts.gauge.overheadTokens,
    callCost: prepared === undefined ? summaryCallCost(parts, { contextTokens, outputTokens }, situation) : 0,
  };
}

function reportWeighing(parts: CostParts, weighing: Weighing, occasion: Occasion): void {
  const { growthPerTurn } = parts.pace;
  parts.reporter.emit({ type: "weighed", occasion, growthPerTurn: Math.round(growthPerTurn), ...weighing });
}
