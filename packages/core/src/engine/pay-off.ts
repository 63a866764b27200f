import { defaultKeepRecent } from "../compaction/plan/room.ts";
import type { SummaryAttempt } from "../compaction/write/attempts.ts";
import {
  type Alternative,
  carriedPays,
  type NetSaving,
  netSaving,
  type Rewriting,
  type Situation,
  usualCompaction,
  type Weighing,
  weigh,
} from "../measure/cost/rewrite-cost.ts";
import { costOf } from "../measure/window/prices.ts";
import { whyNotNow } from "./health.ts";
import type { Needs } from "./parts.ts";

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

/** The parts that decide whether a rewrite pays. */
export type Weighed = Needs<
  | "options"
  | "gauge"
  | "thread"
  | "frame"
  | "cache"
  | "pace"
  | "health"
  | "turn"
  | "background"
  | "modules"
  | "reporter"
>;

/** Before the threshold: whether clearing costs clearly less than to carry the results along. */
export function paysToClearEarly(parts: Weighed, clearing: ClearingSize): boolean {
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
  if (!isCold && !carriedPays(rewriting)) return false;
  const weighing = weigh({ ...situation, alternatives: [clearingWay(tokens, clearing)] });
  if (weighing?.chosen !== "clear" || !isClear(weighing)) return false;
  tell(parts, weighing, isCold ? "cold" : "early");
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
export function paysToClearAtThreshold(parts: Weighed, clearing: ClearingSize | undefined): boolean {
  const weighing = weighAtThreshold(parts, clearing);
  if (weighing === undefined) return !mayCompact(parts) || parts.background.paidFor() === undefined;
  tell(parts, weighing, "full");
  return weighing.chosen !== "compact";
}

/** The same ahead of the threshold, for whoever has to know what will be done there. */
export function willClearAtThreshold(parts: Weighed, clearing: ClearingSize): boolean {
  return weighAtThreshold(parts, clearing)?.chosen !== "compact";
}

function weighAtThreshold(parts: Weighed, clearing: ClearingSize | undefined): Weighing | undefined {
  const situation = mayCompact(parts) ? situationOf(parts) : undefined;
  if (situation === undefined) return undefined;
  const contextTokens = Math.max(situation.contextTokens, situation.thresholdTokens);
  const alternatives = [
    ...(clearing === undefined ? [] : [clearingWay(contextTokens, clearing)]),
    compactionWay(parts, contextTokens, situation),
  ];
  return weigh({ ...situation, contextTokens, alternatives });
}

/** What a clearing or a compaction that was carried out saves, net of its rewrite. */
export function netSavingOf(
  parts: Weighed,
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

/** Undefined where a call's price is not known. */
function costOfCalls({ options }: Needs<"options">, attempts: readonly SummaryAttempt[]): number | undefined {
  let dollars = 0;
  for (const { usage, model } of attempts) {
    if (usage === undefined) continue;
    const cost = costOf(usage, model ?? "", options.prices);
    if (cost === undefined) return undefined;
    dollars += cost;
  }
  return dollars;
}

function situationOf(parts: Weighed): Omit<Situation, "alternatives"> | undefined {
  const { modelName, prices, cacheTtl } = parts.options;
  if (modelName === undefined) return undefined;
  const { tokens, reportedTokens, source } = parts.gauge.size();
  const known = source === "usage" ? Math.min(tokens, reportedTokens) : tokens;
  return {
    model: modelName,
    prices,
    cacheTtl,
    contextTokens: tokens,
    cachedTokens: parts.cache.isCold ? 0 : known,
    thresholdTokens: parts.gauge.thresholds.autoCompact,
    growthPerTurn: parts.pace.growthPerTurn,
    expectedTurns: parts.pace.expectedTurns,
  };
}

/** What has just failed, or did not help, is no way out: then clearing goes first, as without any arithmetic. */
function mayCompact(parts: Weighed): boolean {
  const { health, thread } = parts;
  if (health.isResting() || health.strikes > 0 || thread.meter.isUnreported) return false;
  return whyNotNow("auto", parts) === undefined;
}

const clearingWay = (contextTokens: number, { tokensSaved, tokensFromFirst }: ClearingSize): Alternative => ({
  name: "clear",
  tokensAfter: contextTokens - tokensSaved,
  unchangedTokens: contextTokens - tokensFromFirst,
});

/** What a compaction keeps beside its summary, but for what came while that was written. In tokens. */
export function usuallyKept(parts: Needs<"options" | "gauge">): number {
  const targetTokens = parts.gauge.thresholds.autoCompact;
  const conversationTokens = Math.max(0, targetTokens - parts.gauge.overheadTokens);
  const limits = { targetTokens, conversationTokens };
  return parts.options.compaction.keepRecentTokens ?? defaultKeepRecent(limits);
}

function compactionWay(
  parts: Weighed,
  contextTokens: number,
  situation: Omit<Situation, "alternatives">,
): Alternative {
  const overhead = parts.gauge.overheadTokens;
  const kept = { overheadTokens: overhead, keptTokens: usuallyKept(parts) };
  const usual = usualCompaction(parts.gauge.thresholds, kept);
  const { outputTokens } = usual;
  const paidFor = parts.background.paidFor();
  return {
    name: "compact",
    tokensAfter: paidFor?.tokensAfter ?? parts.pace.compactedTo ?? usual.tokensAfter,
    unchangedTokens: overhead,
    callCost: paidFor === undefined ? callCost(parts, { contextTokens, outputTokens }, situation) : 0,
  };
}

/** A fork reads what is cached; a call of its own pays for all of it; notes and the built-in summariser call nobody. */
function callCost(
  parts: Weighed,
  { contextTokens, outputTokens }: { readonly contextTokens: number; readonly outputTokens: number },
  { model, cachedTokens, prices }: Omit<Situation, "alternatives">,
): number {
  const { options, modules, frame } = parts;
  if (options.model === undefined || modules.hasSummary || options.compaction.summariser === "built-in") {
    return 0;
  }
  const isFork = frame.current !== undefined && cachedTokens > 0;
  const read = isFork ? cachedTokens : 0;
  const usage = {
    input_tokens: Math.max(0, contextTokens - read),
    output_tokens: outputTokens,
    cache_read_input_tokens: read,
  };
  const writer = isFork ? model : (options.compaction.model?.name ?? model);
  return costOf(usage, writer, prices) ?? 0;
}

function tell(parts: Weighed, weighing: Weighing, occasion: Occasion): void {
  const { growthPerTurn } = parts.pace;
  parts.reporter.emit({ type: "weighed", occasion, growthPerTurn: Math.round(growthPerTurn), ...weighing });
}
