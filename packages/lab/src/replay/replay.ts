import type { Snapshot } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import { measureConversation } from "@longhaul/core/internal/compaction";
import { pricedModel, recordedPace } from "@longhaul/core/internal/measure";
import { isCompactBoundary, isEntry, reportedUsage } from "@longhaul/core/internal/messages";
import type { CacheTtl, PriceTable } from "@longhaul/core/measure";
import { claudeFeatures, computeThresholds, pricesOf, sessionWindow } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import type { Session } from "@longhaul/sessions";
import { sessionHistory } from "@longhaul/sessions/internal";
import { contextTextOf } from "../context-text.ts";
import { type EvaluatedSession, settingOf } from "../evaluation.ts";
import { examineContext } from "../examine-context.ts";
import { createPolicy } from "../policies.ts";
import { REPLAY_POLICIES, type ReplayPolicyName } from "../policy.ts";
import { deriveExam, type Exam } from "../probes/exam.ts";
import { CostTracker } from "./cost-tracker.ts";
import { PrefixCache } from "./prefix-cache.ts";
import { type RecordedHistory, type RecordedSession, recordedCalls } from "./recorded-calls.ts";
import type { EngineSetup, ReplayEnvironment, RunOutcome } from "./replay-environment.ts";
import { compare, type PolicyReplay, type Replay } from "./replay-result.ts";
import { runLonghaul } from "./run-longhaul.ts";
import { runPolicy } from "./run-policy.ts";
import { MODEL_SUMMARY_TOKENS } from "./summary-model.ts";
import { createTokenScale } from "./token-scale.ts";
import { VirtualClock } from "./virtual-clock.ts";

export interface ReplayOptions {
  /** Default: all policies. */
  readonly policies?: readonly ReplayPolicyName[] | undefined;
  /** Default: the session's own window, see `sessionWindow`. */
  readonly windowTokens?: number | undefined;
  /** Default: the lifetime of the session's own cache writes, or five minutes if the file does not show it. */
  readonly cacheTtl?: CacheTtl | undefined;
  /** Model whose prices apply. Default: the session's model. */
  readonly model?: string | undefined;
  /** Your own prices. They override the published prices. */
  readonly prices?: PriceTable | undefined;
  /** Engine options that differ from the defaults. */
  readonly engine?: EngineSetup | undefined;
  readonly onProgress?: ((progress: ReplayProgress) => void) | undefined;
}

/**
 * Progress of a replay, reported after each call. `done` is the number of replayed calls, and `total` is the
 * number of all calls. Both count the calls of all policies.
 */
export interface ReplayProgress {
  readonly policy: ReplayPolicyName;
  readonly done: number;
  readonly total: number;
}

/**
 * Replays a recorded session call by call under each policy. Computes three results: the cost with the
 * provider's prompt cache, the time that people would have waited, and the probes in the context at the end.
 * Calls no model.
 */
export function replaySession(session: Session, options: ReplayOptions = {}): Promise<Replay> {
  const { conversation, clearedToolUseIds, entries } = session;
  const history = sessionHistory(session);
  return replayHistory(
    session,
    { history, entries, current: { entries: conversation, clearedToolUseIds } },
    options,
  );
}

/** Does the same as {@link replaySession} for entries that are not in a file. */
export function replayEntries(
  session: EvaluatedSession,
  entries: readonly Entry[],
  options: ReplayOptions = {},
): Promise<Replay> {
  const history = { entries, isRepeated: () => false };
  return replayHistory(session, { history, entries, current: { entries } }, options);
}

/** A session in the three forms that a replay needs. */
interface ReplayedEntries {
  /** Everything that was said in the session. */
  readonly history: RecordedHistory;
  /** All entries of the file. */
  readonly entries: readonly Entry[];
  /** The conversation at the end of the session. */
  readonly current: Snapshot;
}

async function replayHistory(
  session: EvaluatedSession,
  replayed: ReplayedEntries,
  options: ReplayOptions,
): Promise<Replay> {
  const recorded = recordedCalls(replayed.history);
  if (recorded.calls.length === 0) throw nothingToReplay(session);
  const cast = createSharedEnvironment(session, recorded, replayed, options);
  const { policies: names = REPLAY_POLICIES, onProgress } = options;
  const total = recorded.calls.length * names.length;
  let done = 0;
  const policies: PolicyReplay[] = [];
  for (const policy of names) {
    const onCall = (): void => onProgress?.({ policy, done: ++done, total });
    policies.push(await replayPolicy(policy, { ...cast, onCall }));
  }
  const { scale, thresholds } = cast;
  return {
    ...settingOf(session, thresholds, cast.prices, options.model ?? session.model),
    cacheTtl: cast.ttl,
    overhead: { tokens: scale.overheadTokens, recorded: scale.recordedOverheadTokens ?? null },
    tokenRatio: scale.ratio,
    calls: recorded.calls.length,
    probes: cast.exam.probes.length,
    policies,
    comparison: compare(policies),
  };
}

/** The inputs that all policies share. */
interface SharedEnvironment extends Omit<ReplayEnvironment, "cache" | "costs" | "clock" | "onCall"> {
  readonly exam: Exam;
  /** Model whose prices apply. */
  readonly prices: string;
}

function createSharedEnvironment(
  session: EvaluatedSession,
  recorded: RecordedSession,
  { entries, current: now }: ReplayedEntries,
  options: ReplayOptions,
): SharedEnvironment {
  const { windowTokens, engine: { settings } = {} } = options;
  const file = { model: session.model ?? options.model, entries };
  const thresholds = computeThresholds(sessionWindow(file, { windowTokens, settings }), settings);
  const recordedOverheadTokens = recordedOverhead(now, entries);
  const model = session.model ?? options.model ?? pricedModel(undefined);
  return {
    recorded,
    scale: createTokenScale(recorded, { model, windowTokens: thresholds.size, recordedOverheadTokens }),
    thresholds,
    ttl: options.cacheTtl ?? recordedPace(entries).cacheTtl,
    model,
    ...charged(options.model ?? model, model, options.prices),
    transcriptPath: session.path ?? `${session.id}.jsonl`,
    engine: options.engine ?? {},
    exam: deriveExam([...recorded.calls.flatMap(({ newEntries: news }) => news), ...recorded.rest]),
  };
}

/**
 * Returns the model whose prices apply, and the user's own prices. If these are not the prices of the
 * session's model, the engine gets them under the name of that model, because it decides by prices.
 */
function charged(
  wanted: string,
  model: string,
  own: PriceTable | undefined,
): Pick<SharedEnvironment, "prices" | "ownPrices"> {
  const prices = pricedModel(wanted, own);
  const row = prices === model ? undefined : pricesOf(prices, 0, own);
  return { prices, ownPrices: row === undefined ? own : { ...own, [model]: row } };
}

/**
 * Returns the overhead (system prompt and tools) as `inspect` computes it. It comes from the usage of the
 * conversation, or from a compaction boundary that recorded it. Returns undefined if no response reports its
 * usage.
 */
function recordedOverhead(now: Snapshot, entries: readonly Entry[]): number | undefined {
  const { source, overheadTokens, entries: counted } = measureConversation(now, {});
  if (source === "usage" || overheadTokens > 0) return overheadTokens;
  const isRecorded = counted.some(
    (entry) => isCompactBoundary(entry) && entry.compactMetadata?.longhaul?.overheadTokens !== undefined,
  );
  const isReported = entries.some((entry) => isEntry(entry) && reportedUsage(entry) !== undefined);
  return isRecorded && isReported ? overheadTokens : undefined;
}

async function replayPolicy(
  policy: ReplayPolicyName,
  cast: SharedEnvironment & Pick<ReplayEnvironment, "onCall">,
): Promise<PolicyReplay> {
  const { scale, model, ttl, recorded } = cast;
  const { minimumCacheTokens } = claudeFeatures(model);
  const cache = new PrefixCache({ minimumTokens: minimumCacheTokens, tokensOf: scale.tokensOf });
  const { countText } = scale;
  const till = new CostTracker({ model: cast.prices, prices: cast.ownPrices, ttl, cache, countText });
  const clock = new VirtualClock(recorded.calls[0]?.startedAt ?? 0);
  const { entries, ...outcome } = await run(policy, { ...cast, cache, costs: till, clock });
  const { scores } = examineContext(cast.exam, contextTextOf(entries));
  const sizes = till.turns.map(({ tokens }) => tokens);
  return {
    policy,
    cost: { total: till.cost, summaries: till.summaryCost },
    breakdown: till.breakdown,
    tokens: till.tokens,
    summaryCalls: till.summaryCalls,
    ...outcome,
    refusedCalls: till.refusedCalls,
    cacheBreaks: till.cacheBreaks,
    peakTokens: sizes.reduce((peak, tokens) => Math.max(peak, tokens), 0),
    lastTokens: sizes.at(-1) ?? 0,
    probesKept: scores.context.held,
    turns: till.turns,
  };
}

function run(policy: ReplayPolicyName, stage: ReplayEnvironment): Promise<RunOutcome> {
  const { model, scale, engine } = stage;
  switch (policy) {
    case "longhaul":
      return runLonghaul(stage);
    case "longhaul-built-in": {
      const compaction = { ...engine.compaction, summarizer: "built-in" as const };
      return runLonghaul({ ...stage, engine: { ...engine, compaction } });
    }
    case "everything":
      return runPolicy(undefined, stage);
    default: {
      const { countText } = scale;
      const options = { model, countText, summaryTokens: MODEL_SUMMARY_TOKENS, announcesTools: true };
      return runPolicy(createPolicy(policy, options), stage);
    }
  }
}

function nothingToReplay({ id, path }: EvaluatedSession): LonghaulError {
  return new LonghaulError(
    "nothing-to-replay",
    `Nothing to replay: no model has answered in session ${id}.`,
    {
      remedy: "Choose a session with at least one answer. `longhaul sessions` lists all sessions.",
      facts: path === undefined ? { id } : { id, path },
    },
  );
}
