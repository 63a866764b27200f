import { LonghaulError } from "../../errors.ts";
import type { Session } from "../../transcript/session.ts";
import { claudeFeatures } from "../../window/claude-features.ts";
import { findModel, type KnownModel, withProvenWindow } from "../../window/models.ts";
import { pricesOf } from "../../window/prices.ts";
import { computeThresholds } from "../../window/thresholds.ts";
import { createPolicy } from "../policies/policies.ts";
import { type CacheTtl, PrefixCache } from "./cache.ts";
import { type RecordedSession, recordedCalls } from "./recorded-calls.ts";
import { type PolicyReplay, REPLAY_POLICIES, type ReplayPolicyName, type SessionReplay } from "./result.ts";
import type { RunOutcome, Stage } from "./run.ts";
import { runLonghaul } from "./run-longhaul.ts";
import { runPolicy } from "./run-policy.ts";
import { scaleOf } from "./scale.ts";
import { Till } from "./till.ts";
import { VirtualClock } from "./virtual-clock.ts";

export interface ReplayOptions {
  /** All unless given. */
  readonly policies?: readonly ReplayPolicyName[] | undefined;
  /** That of the session's model unless given, or a larger one where a response proves it. */
  readonly windowTokens?: number | undefined;
  readonly cacheTtl?: CacheTtl | undefined;
  /** Whose prices to take, where they are not to be those of the session's model. */
  readonly model?: string | undefined;
  /** `done` of `total` calls have been replayed, over all policies. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** A recorded session call by call under each policy: what it would have cost, and how long it would have waited. */
export async function replaySession(session: Session, options: ReplayOptions = {}): Promise<SessionReplay> {
  const recorded = recordedCalls(session);
  const { policies: names = REPLAY_POLICIES, cacheTtl = "5m", onProgress } = options;
  if (recorded.calls.length === 0) throw nothingToReplay(session.path);
  const known = modelOf(session, recorded, options);
  const scale = scaleOf(recorded, { model: session.model, windowTokens: known.windowTokens });
  const model = session.model ?? options.model ?? "unknown";
  const prices = options.model ?? model;
  let done = 0;
  const total = recorded.calls.length * names.length;
  const common: StageParts = {
    recorded,
    scale,
    thresholds: computeThresholds(known),
    ttl: cacheTtl,
    model,
    transcriptPath: session.path,
    onCall: () => onProgress?.(++done, total),
  };
  const policies: PolicyReplay[] = [];
  for (const name of names) policies.push(await replayPolicy(name, common, prices));
  const { size: windowTokens, autoCompact: thresholdTokens } = common.thresholds;
  const { overheadTokens, recordedOverheadTokens, ratio: tokenRatio } = scale;
  return {
    id: session.id,
    model: session.model,
    pricedAs: pricesOf(prices) === undefined ? undefined : prices,
    calls: recorded.calls.length,
    windowTokens,
    thresholdTokens,
    cacheTtl,
    overheadTokens,
    recordedOverheadTokens,
    tokenRatio,
    policies,
  };
}

type StageParts = Omit<Stage, "till" | "clock">;

function modelOf(
  { model }: Session,
  { calls }: RecordedSession,
  { windowTokens, model: other }: ReplayOptions,
): KnownModel {
  const known = findModel(model ?? other);
  if (windowTokens !== undefined) return { ...known, windowTokens };
  return withProvenWindow(known, Math.max(0, ...calls.map(({ inputTokens = 0 }) => inputTokens)));
}

async function replayPolicy(
  name: ReplayPolicyName,
  parts: StageParts,
  prices: string,
): Promise<PolicyReplay> {
  const { scale, model, ttl, recorded } = parts;
  const cache = new PrefixCache({
    minimumTokens: claudeFeatures(model).minimumCacheTokens,
    tokensOf: scale.tokensOf,
  });
  const till = new Till({ model: prices, ttl, cache });
  const clock = new VirtualClock(recorded.calls[0]?.startedAt ?? 0);
  const stage: Stage = { ...parts, till, clock };
  const outcome = await runByName(name, stage, cache);
  const sizes = till.turns.map(({ tokens }) => tokens);
  const { compactions, clearings, stallMs, refusedCalls } = outcome;
  return {
    policy: name,
    tokens: till.tokens,
    cost: till.cost,
    summaries: { calls: till.summaryCalls, tokens: till.summaryTokens, cost: till.summaryCost },
    compactions,
    clearings,
    stallMs,
    cacheBreaks: till.cacheBreaks,
    refusedCalls,
    peakTokens: Math.max(...sizes),
    finalTokens: sizes.at(-1) ?? 0,
    probes: { kept: 0, total: 0 },
    turns: till.turns,
  };
}

function runByName(name: ReplayPolicyName, stage: Stage, cache: PrefixCache): Promise<RunOutcome> {
  if (name === "longhaul") return runLonghaul(stage, cache);
  if (name === "everything") return runPolicy(undefined, stage);
  const { model, scale } = stage;
  return runPolicy(createPolicy(name, { model, countText: scale.countText }), stage);
}

function nothingToReplay(path: string): LonghaulError {
  return new LonghaulError("not-enough-messages", `There is no answer of a model in ${path}.`, {
    remedy: "Choose a session in which an agent has worked; `longhaul sessions` lists them.",
    facts: { path },
  });
}
