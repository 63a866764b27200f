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
  /** In milliseconds. */
  readonly now: number;
  readonly prices?: PriceTable | undefined;
}

/** How a session stands before its next call, as far as money depends on it. */
export interface SessionSituation extends Omit<Situation, "alternatives"> {
  /** The prices of the session's model are not known, or it names none. `model` is the one whose prices are used. */
  readonly arePricesAssumed: boolean;
  readonly turnsSoFar: number;
  /** Since the newest response, in milliseconds; undefined where the file does not tell. */
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

/** The calls for a summary, with their price in dollars. */
export interface CallCost {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
  /** No model was called: these are the figures that a call is expected to have. */
  readonly isEstimate: boolean;
}

export type WeighedCompaction =
  /** One that has been computed. */
  | Pick<SessionCompaction, "plan" | "compaction">
  /** One whose summary this model would write: its size is an estimate. */
  | { readonly summaryBy: string };

/** What clearing or compacting a session now would cost and save; nothing is written and no model is called. */
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

/** As `compact` plans it without options; undefined where there is nothing to compact. */
export function usualPlan(
  { conversation, clearedToolUseIds }: Session,
  thresholds: Thresholds,
): CompactionPlan | undefined {
  const snapshot = { entries: conversation, clearedToolUseIds };
  return unlessNothingToDo(() => planCompaction(snapshot, { targetTokens: thresholds.autoCompact }));
}

/** A separate call for the summary, without a cached prefix to share. Undefined where the prices are not known. */
export function expectedCall(
  plan: Pick<CompactionPlan, "summarisedTokens" | "overheadTokens" | "keptTokens">,
  thresholds: Thresholds,
  model: string,
  prices: PriceTable | undefined,
): CallCost | undefined {
  const inputTokens = plan.summarisedTokens;
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
