import { type CompactionPlan, planCompaction } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import type { SizedConversation } from "@longhaul/core/internal/compaction";
import { unchangedTokens } from "@longhaul/core/internal/compaction";
import { CACHE_TTL_MS, pricedModel, recordedPace, usualCompaction } from "@longhaul/core/internal/measure";
import type { Thresholds } from "@longhaul/core/measure";
import {
  type Alternative,
  costOf,
  ESTIMATORS,
  measureEntries,
  type PriceTable,
  type Situation,
  type Weighing,
  weigh,
} from "@longhaul/core/measure";
import type { Session } from "../transcript/load.ts";
import { clearSession, type SessionClearing } from "./clear-session.ts";
import type { SessionCompaction } from "./compact-session.ts";

interface SessionCostOptions {
  readonly thresholds: Thresholds;
  readonly contextTokens: number;
  /** Current time in milliseconds. */
  readonly now: number;
  readonly prices?: PriceTable | undefined;
}

/** State of a session before its next call, as far as it affects the cost. */
export interface SessionSituation extends Omit<Situation, "alternatives"> {
  /**
   * True if the session names no model, or if the prices of its model are unknown. In both cases,
   * `model` is another model, whose prices are used.
   */
  readonly arePricesAssumed: boolean;
  readonly turnsSoFar: number;
  /** Milliseconds since the newest response. Undefined if the file does not say. */
  readonly cacheAgeMs: number | undefined;
}

export function sessionSituation(
  session: Pick<Session, "entries" | "model">,
  { thresholds, contextTokens, now, prices }: SessionCostOptions,
): SessionSituation {
  const { pace, lastCallAt, cacheTtl } = recordedPace(session.entries);
  const cacheAgeMs = lastCallAt === undefined ? undefined : Math.max(0, now - lastCallAt);
  const isWarm = cacheAgeMs !== undefined && cacheAgeMs < CACHE_TTL_MS[cacheTtl];
  const model = pricedModel(session.model, prices);
  return {
    model,
    arePricesAssumed: model !== session.model,
    prices,
    cacheTtl,
    contextTokens,
    cachedTokens: isWarm ? contextTokens : 0,
    thresholdTokens: thresholds.autoCompact,
    growthPerTurn: pace.growthPerTurn,
    expectedTurns: pace.expectedTurns,
    turnsSoFar: pace.turns,
    cacheAgeMs,
  };
}

/** Summary calls with their price in dollars. */
export interface CallCost {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
  /** True if no model was called. In that case, the figures are those of an expected call. */
  readonly isEstimate: boolean;
}

export type WeighedCompaction =
  /** A computed compaction. */
  | Pick<SessionCompaction, "plan" | "compaction">
  /**
   * A compaction that has not been computed. `summaryBy` is the model that would write its summary. The size
   * of that summary is an estimate.
   */
  | { readonly summaryBy: string };

/**
 * Computes the cost and saving of clearing or compacting a session now. Writes nothing and calls no model.
 */
export function weighSession(
  session: Session,
  situation: SessionSituation,
  thresholds: Thresholds,
  compaction: WeighedCompaction | undefined,
  sized?: SizedConversation,
): Weighing | undefined {
  const ways =
    thresholds.headroomBy === "nobody"
      ? []
      : [
          clearingWay(session, situation, sized),
          compaction && compactingWay(session, situation, thresholds, compaction),
        ];
  return weigh({ ...situation, alternatives: ways.filter((way) => way !== undefined) });
}

function clearingWay(
  session: Session,
  { contextTokens }: SessionSituation,
  sized: SizedConversation | undefined,
): Alternative | undefined {
  const result = unlessNothingToDo(() => clearSession(session, { sized }));
  if (result === undefined) return undefined;
  const { tokensBefore, tokensAfter } = result;
  const first = tokensBefore - tokensFromFirst(result);
  return {
    name: "clear",
    tokensAfter: contextTokens - (tokensBefore - tokensAfter),
    unchangedTokens: Math.max(0, first),
  };
}

function tokensFromFirst({
  clearing,
  entries,
  tokenRatio,
  tokensBefore,
  tokensAfter,
}: SessionClearing): number {
  const first = Math.min(...clearing.results.map(({ entryIndex }) => entryIndex));
  const left = measureEntries(entries.slice(first), ESTIMATORS.o200k) * tokenRatio;
  return left + tokensBefore - tokensAfter;
}

function compactingWay(
  session: Session,
  situation: SessionSituation,
  thresholds: Thresholds,
  weighed: WeighedCompaction,
): Alternative | undefined {
  if ("plan" in weighed) {
    const { tokensAfter } = weighed.compaction;
    return { name: "compact", tokensAfter, unchangedTokens: unchangedTokens(weighed.plan) };
  }
  const plan = usualPlan(session, thresholds);
  if (plan === undefined) return undefined;
  const { tokensAfter } = usualCompaction(thresholds, plan);
  const call = expectedCall(plan, thresholds, weighed.summaryBy, situation.prices);
  if (tokensAfter >= situation.contextTokens) return undefined;
  return {
    name: "compact",
    tokensAfter,
    unchangedTokens: unchangedTokens(plan),
    callCost: call?.cost ?? 0,
  };
}

/** Returns the plan of `compact` without options, or undefined if there is nothing to compact. */
export function usualPlan(
  { conversation, clearedToolUseIds }: Session,
  thresholds: Thresholds,
): CompactionPlan | undefined {
  const snapshot = { entries: conversation, clearedToolUseIds };
  return unlessNothingToDo(() => planCompaction(snapshot, { targetTokens: thresholds.autoCompact }));
}

/**
 * Estimates the cost of a separate call for a summary, without a cached prefix. Returns undefined if the
 * prices are unknown.
 */
export function expectedCall(
  plan: Pick<CompactionPlan, "summarizedTokens" | "overheadTokens" | "keptTokens">,
  thresholds: Thresholds,
  model: string,
  prices: PriceTable | undefined,
): CallCost | undefined {
  const inputTokens = plan.summarizedTokens;
  const { outputTokens } = usualCompaction(thresholds, plan);
  const cost = costOf({ input_tokens: inputTokens, output_tokens: outputTokens }, model, prices);
  return cost === undefined ? undefined : { model, inputTokens, outputTokens, cost, isEstimate: true };
}

function unlessNothingToDo<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof LonghaulError) return undefined;
    throw error;
  }
}
