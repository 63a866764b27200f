import { defaultKeepRecent } from "../compaction/plan/keep-recent.ts";
import type { SummaryAttempt } from "../compaction/write/attempts.ts";
import {
  carriedPays,
  type NetSaving,
  netSaving,
  type Rewriting,
  usualCompaction,
} from "../cost/rewrite-cost.ts";
import { type Alternative, type Situation, type Weighing, weigh } from "../cost/weigh.ts";
import { costOf } from "../window/prices.ts";
import { whyNotToCompactNow } from "./guards.ts";
import type { ConversationState } from "./state.ts";

/** Below this share of the threshold there is so much room that nobody should have to fetch anything again. */
const EARLIEST_SHARE = 0.5;
/** Nobody knows how long a conversation goes on: what is done early must pay in half the turns expected. */
const CAREFUL_SHARE = 0.5;

/** A clearing as far as its price depends on it, in tokens as the provider counts them. */
export interface ClearingSize {
  readonly tokensSaved: number;
  /** From the first cleared result to the end, before the clearing. */
  readonly tokensFromFirst: number;
}

type Occasion = "early" | "cold" | "full";

/** The cache's life is over: whatever is sent next is written anew. Not known of a conversation that others called for. */
const isCacheCold = (state: ConversationState): boolean =>
  state.lastCallAt !== undefined && state.idleMs() >= state.cacheTtlMs;

/** Before the threshold: whether clearing costs clearly less than to carry the results along. */
export function paysToClearEarly(state: ConversationState, clearing: ClearingSize): boolean {
  if (state.collapse !== undefined) return false;
  const isCold = isCacheCold(state);
  const { tokens } = state.size();
  if (!isCold && tokens < state.thresholds.autoCompact * EARLIEST_SHARE) return false;
  const situation = situationOf(state);
  if (situation === undefined) return false;
  const rewriting: Rewriting = {
    model: situation.model,
    prices: situation.prices,
    cacheTtl: situation.cacheTtl,
    contextTokens: tokens,
    rewrittenTokens: clearing.tokensFromFirst - clearing.tokensSaved,
    carriedTokens: state.pace.carriedTokens,
  };
  if (!isCold && !carriedPays(rewriting)) return false;
  const weighing = weigh({ ...situation, alternatives: [clearingWay(tokens, clearing)] });
  if (weighing?.chosen !== "clear" || !isClear(weighing)) return false;
  tell(state, weighing, isCold ? "cold" : "early");
  return true;
}

/** Whether it pays long before the end that is expected. */
function isClear({ options, chosen, expectedTurns }: Weighing): boolean {
  const { breakEvenTurns } = options.find(({ name }) => name === chosen) ?? {};
  return breakEvenTurns !== undefined && breakEvenTurns <= expectedTurns * CAREFUL_SHARE;
}

/**
 * At the threshold: whether to clear, or to leave it to the compaction that follows. Clearing where that is not
 * possible, or where nobody knows the prices.
 */
export function paysToClearAtThreshold(
  state: ConversationState,
  clearing: ClearingSize | undefined,
): boolean {
  const weighing = weighAtThreshold(state, clearing);
  if (weighing === undefined) return !mayCompact(state) || state.background.paidFor() === undefined;
  tell(state, weighing, "full");
  return weighing.chosen !== "compact";
}

/** The same ahead of the threshold, for whoever has to know what will be done there. */
export function willClearAtThreshold(state: ConversationState, clearing: ClearingSize): boolean {
  return weighAtThreshold(state, clearing)?.chosen !== "compact";
}

function weighAtThreshold(
  state: ConversationState,
  clearing: ClearingSize | undefined,
): Weighing | undefined {
  const situation = mayCompact(state) ? situationOf(state) : undefined;
  if (situation === undefined) return undefined;
  const contextTokens = Math.max(situation.contextTokens, situation.thresholdTokens);
  const alternatives = [
    ...(clearing === undefined ? [] : [clearingWay(contextTokens, clearing)]),
    compactionWay(state, contextTokens, situation),
  ];
  return weigh({ ...situation, contextTokens, alternatives });
}

/** What a clearing or a compaction that was carried out saves, net of its rewrite. */
export function netSavingOf(
  state: ConversationState,
  rewritten: {
    readonly tokensBefore: number;
    readonly tokensAfter: number;
    readonly unchangedTokens: number;
    readonly attempts?: readonly SummaryAttempt[];
  },
): NetSaving | undefined {
  const situation = situationOf(state);
  const { attempts = [], tokensBefore, ...rest } = rewritten;
  const callCost = costOfCalls(state, attempts);
  if (situation === undefined || callCost === undefined) return undefined;
  const { model, prices, cacheTtl, expectedTurns: turns } = situation;
  const cachedTokens = isCacheCold(state) ? 0 : tokensBefore;
  return netSaving({ model, prices, cacheTtl, tokensBefore, ...rest, cachedTokens, callCost, turns });
}

/** Undefined where a call's price is not known. */
function costOfCalls(
  { options }: ConversationState,
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

function situationOf(state: ConversationState): Omit<Situation, "alternatives"> | undefined {
  const { modelName, prices, cacheTtl } = state.options;
  if (modelName === undefined) return undefined;
  const { tokens, reportedTokens, source } = state.size();
  const known = source === "usage" ? Math.min(tokens, reportedTokens) : tokens;
  return {
    model: modelName,
    prices,
    cacheTtl,
    contextTokens: tokens,
    cachedTokens: isCacheCold(state) ? 0 : known,
    thresholdTokens: state.thresholds.autoCompact,
    growthPerTurn: state.pace.growthPerTurn,
    expectedTurns: state.pace.expectedTurns,
  };
}

/** What has just failed, or did not help, is no way out: then clearing goes first, as without any arithmetic. */
function mayCompact(state: ConversationState): boolean {
  const { breaker, thread } = state;
  if (breaker.isResting() || breaker.state().strikes > 0 || thread.meter.isUnreported) return false;
  return whyNotToCompactNow(state) === undefined;
}

const clearingWay = (contextTokens: number, { tokensSaved, tokensFromFirst }: ClearingSize): Alternative => ({
  name: "clear",
  tokensAfter: contextTokens - tokensSaved,
  unchangedTokens: contextTokens - tokensFromFirst,
});

/** What a compaction keeps beside its summary, but for what came while that was written. In tokens. */
export function usuallyKept(state: ConversationState): number {
  const { options, thresholds, overheadTokens = state.frameTokens() } = state;
  const targetTokens = thresholds.autoCompact;
  const limits = { targetTokens, conversationTokens: Math.max(0, targetTokens - overheadTokens) };
  return options.compaction.keepRecentTokens ?? defaultKeepRecent(limits);
}

function compactionWay(
  state: ConversationState,
  contextTokens: number,
  situation: Omit<Situation, "alternatives">,
): Alternative {
  const overhead = state.overheadTokens ?? state.frameTokens();
  const kept = { overheadTokens: overhead, keptTokens: usuallyKept(state) };
  const usual = usualCompaction(state.thresholds, kept);
  const { outputTokens } = usual;
  const paidFor = state.background.paidFor();
  return {
    name: "compact",
    tokensAfter: paidFor?.tokensAfter ?? state.pace.compactedTo ?? usual.tokensAfter,
    unchangedTokens: overhead,
    callCost: paidFor === undefined ? callCost(state, { contextTokens, outputTokens }, situation) : 0,
  };
}

/** A fork reads what is cached; a call of its own pays for all of it; notes and the built-in summariser call nobody. */
function callCost(
  state: ConversationState,
  { contextTokens, outputTokens }: { readonly contextTokens: number; readonly outputTokens: number },
  { model, cachedTokens, prices }: Omit<Situation, "alternatives">,
): number {
  const { options, notes, frame } = state;
  if (options.model === undefined || notes !== undefined || options.compaction.summariser === "built-in") {
    return 0;
  }
  const isFork = frame !== undefined && cachedTokens > 0;
  const read = isFork ? cachedTokens : 0;
  const usage = {
    input_tokens: Math.max(0, contextTokens - read),
    output_tokens: outputTokens,
    cache_read_input_tokens: read,
  };
  const writer = isFork ? model : (options.summaryModel?.name ?? model);
  return costOf(usage, writer, prices) ?? 0;
}

function tell(state: ConversationState, weighing: Weighing, occasion: Occasion): void {
  const { growthPerTurn } = state.pace;
  state.emit({ type: "weighed", occasion, growthPerTurn: Math.round(growthPerTurn), ...weighing });
}
