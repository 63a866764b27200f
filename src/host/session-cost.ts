import { type CompactionPlan, planCompaction } from "../compact/plan.ts";
import { CACHE_TTL_MS } from "../cost/rates.ts";
import { recordedPace } from "../cost/recorded-pace.ts";
import { usualCompaction } from "../cost/usual-compaction.ts";
import { type Alternative, type Situation, type Weighing, weigh } from "../cost/weigh.ts";
import { LonghaulError } from "../errors.ts";
import { ESTIMATORS, measureEntries } from "../tokens/measure.ts";
import type { Session } from "../transcript/session.ts";
import { costOf, type PriceTable } from "../window/prices.ts";
import type { Thresholds } from "../window/thresholds.ts";
import { clearSession, type SessionClearing } from "./clear-session.ts";

export interface SessionCostOptions {
  readonly thresholds: Thresholds;
  readonly contextTokens: number;
  /** In milliseconds. */
  readonly now: number;
  readonly prices?: PriceTable | undefined;
}

/** How a session stands before its next call, as far as money depends on it. */
export interface SessionSituation extends Omit<Situation, "alternatives"> {
  readonly turnsSoFar: number;
  /** Since the newest response, in milliseconds; undefined where the file does not tell. */
  readonly cacheAgeMs: number | undefined;
}

/** Undefined where the session does not name its model. */
export function sessionSituation(
  session: Pick<Session, "conversation" | "model">,
  { thresholds, contextTokens, now, prices }: SessionCostOptions,
): SessionSituation | undefined {
  if (session.model === undefined) return undefined;
  const { pace, lastCallAt, cacheTtl } = recordedPace(session.conversation);
  const cacheAgeMs = lastCallAt === undefined ? undefined : Math.max(0, now - lastCallAt);
  const isWarm = cacheAgeMs !== undefined && cacheAgeMs < CACHE_TTL_MS[cacheTtl];
  return {
    model: session.model,
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

/** What clearing or compacting a session now would cost and save; nothing is written and no model is called. */
export function weighSession(
  session: Session,
  situation: SessionSituation,
  thresholds: Thresholds,
): Weighing | undefined {
  const ways = [clearingWay(session, situation), compactingWay(session, situation, thresholds)];
  return weigh({ ...situation, alternatives: ways.filter((way) => way !== undefined) });
}

function clearingWay(session: Session, { contextTokens }: SessionSituation): Alternative | undefined {
  const result = unlessNothingToDo(() => clearSession(session));
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
  { conversation, clearedToolUseIds }: Session,
  situation: SessionSituation,
  thresholds: Thresholds,
): Alternative | undefined {
  const snapshot = { entries: conversation, clearedToolUseIds };
  const plan = unlessNothingToDo(() => planCompaction(snapshot, { targetTokens: thresholds.autoCompact }));
  if (plan === undefined) return undefined;
  const { tokensAfter } = usualCompaction(thresholds, plan);
  const { model, prices } = situation;
  const call = expectedCall(plan, thresholds);
  if (tokensAfter >= situation.contextTokens) return undefined;
  return {
    name: "compact",
    tokensAfter,
    unchangedTokens: plan.overheadTokens,
    callCost: costOf(call, model, prices) ?? 0,
  };
}

/** What a call of its own for the summary would use: a file has no cached prefix to share. */
export function expectedCall(
  plan: Pick<CompactionPlan, "summarisedTokens" | "overheadTokens" | "keptTokens">,
  thresholds: Thresholds,
): { readonly input_tokens: number; readonly output_tokens: number } {
  return {
    input_tokens: plan.summarisedTokens,
    output_tokens: usualCompaction(thresholds, plan).outputTokens,
  };
}

function unlessNothingToDo<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof LonghaulError) return undefined;
    throw error;
  }
}
