import type { Compaction } from "../compaction/compact.ts";
import type { planUnder } from "../compaction/plan/compaction-plan.ts";
import { type Thresholds, windowState } from "../measure/window/thresholds.ts";
import { LonghaulError } from "../messages/errors.ts";
import { formatCount } from "../messages/text.ts";
import { waitWithTimeLimit } from "../models/abortable.ts";
import { ModelError } from "../models/model-error.ts";
import { timedOut } from "../models/model-time-limits.ts";
import type { Model, ModelRequest } from "../models/port.ts";
import { type CacheMarkOptions, withCacheMarks } from "../models/prompt-cache-marks.ts";
import { clearStale } from "./clear-stale.ts";
import type { SkipReason } from "./events.ts";
import { completeRequestFrame } from "./fork.ts";
import { remedyWithoutAutoCompact, skipReasonFor } from "./health.ts";
import type { BeforeOptions, Message, Turn } from "./options.ts";
import type { EngineParts, Needs } from "./parts.ts";
import { findFittingPlan } from "./planning.ts";
import { failureReason } from "./reporter.ts";
import { ingest, limitMedia, noteFindings, removeMisplacedThinking } from "./rewrite.ts";
import { decideToCompactEarly } from "./rewrite-decisions.ts";
import { type CompactionParts, reportFailure, runCompaction } from "./run-compaction.ts";

/**
 * Number of turns to wait for a usage report. After that, the estimate decides, because some providers never
 * report usage.
 */
const TURNS_TO_WAIT_FOR_REPORT = 3;

/** Time limit of the provider's exact count. It is short, because the turn waits for the count. */
const EXACT_COUNT_TIMEOUT_MS = 2_000;

/**
 * Runs before each model call: reads new messages, clears stale results, counts, decides, compacts if
 * necessary, and returns the turn.
 */
export async function before<T extends Message>(
  parts: EngineParts,
  messages: readonly T[],
  options: BeforeOptions,
): Promise<Turn<T>> {
  const { signal } = options;
  beginTurn(parts, options);
  ingest(parts, messages);
  await parts.modules.addContext(signal);
  limitMedia(parts);
  const cleared = await clearStale(parts, signal);
  await countExactly(parts, signal);
  const problem = await makeRoom(parts, signal);
  const decision = decide(parts);
  const outcome: Outcome =
    decision === "compact" ? await compactAutomatically(parts, signal) : { skipped: decision, problem };
  return turnToSend<T>(parts, { cleared, ...outcome });
}

/** Starts a turn: records its caller and the new request fields, if the host passes any. */
function beginTurn(
  parts: Needs<"turn" | "frame" | "gauge" | "thread" | "health" | "reporter">,
  { caller, request }: BeforeOptions,
): void {
  const { turn, frame, gauge, thread, health, reporter } = parts;
  turn.begin(caller);
  const { isNew, needsRecheck } = frame.replace(request);
  if (isNew) gauge.forgetOverhead();
  if (needsRecheck) noteFindings(parts, thread.reframe());
  reporter.emitAll(health.onTurn());
}

/**
 * Decides whether this turn compacts. Records the size first, because a smaller conversation can close the
 * circuit breaker. Then checks the guards, and the threshold last.
 */
function decide(parts: CompactionParts): "compact" | SkipReason {
  const { gauge, health, reporter, modules } = parts;
  const { autoCompact, effective } = gauge.thresholds;
  const { tokens, paddedTokens, source } = gauge.size();
  reporter.emitAll(
    health.recordSize({ tokens: paddedTokens, unpaddedTokens: tokens, threshold: autoCompact }),
  );
  const decision =
    skipReasonFor("auto", parts) ??
    (paddedTokens < autoCompact && !isCompactionDueEarly(parts) ? "below-threshold" : compactOrSkip(parts));
  const { removedTokens: snipFreed } = modules.omittedTokens();
  reporter.emit({
    type: "window-checked",
    tokens,
    source,
    threshold: autoCompact,
    effective,
    snipFreed,
    decision,
  });
  return decision;
}

/**
 * Returns true if a summary is ready before the threshold, and using it now costs less than using it at the
 * threshold.
 */
function isCompactionDueEarly(parts: CompactionParts): boolean {
  const { background, gauge } = parts;
  if (gauge.size().source !== "usage" || background.preparedResult()?.tokensAfter === undefined) return false;
  return decideToCompactEarly(parts);
}

/**
 * Returns "compact", or the reason to wait after recent compactions. Only a response can prove that the last
 * compaction failed. Our own count cannot prove it.
 */
function compactOrSkip(parts: CompactionParts): "compact" | SkipReason {
  const { health, gauge } = parts;
  return (
    health.state(gauge.size().tokens) ?? (isResumedAfterCompaction(parts) ? "just-compacted" : "compact")
  );
}

/**
 * Returns true under two conditions. Another process made the last compaction, and our count exceeds the
 * threshold only because of the padding of the estimate.
 */
function isResumedAfterCompaction({ health, thread, gauge }: Needs<"health" | "thread" | "gauge">): boolean {
  const mayBeReported = health.turn <= TURNS_TO_WAIT_FOR_REPORT;
  return mayBeReported && thread.meter.isUnreported && gauge.size().tokens < gauge.thresholds.autoCompact;
}

async function makeRoom(
  { modules }: Needs<"modules">,
  signal: AbortSignal | undefined,
): Promise<LonghaulError | undefined> {
  try {
    await modules.makeRoom(signal);
    return undefined;
  } catch (error) {
    return toProblem(error);
  }
}

/**
 * Returns the error as the problem of the turn. A failed compaction does not stop the call: the request may
 * still fit, and recovery handles an overflow. Rethrows the error of an abort.
 */
function toProblem(error: unknown): LonghaulError {
  if (error instanceof LonghaulError && failureReason(error) !== "aborted") return error;
  throw error;
}

async function compactAutomatically(
  parts: CompactionParts,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const { background, modules, gauge, health, reporter } = parts;
  try {
    const offer = background.offer();
    if (offer === "under-way") return { skipped: "summary-under-way" };
    const isAtOnce = offer === "at-once";
    const ready = (await modules.offerPlan({ trigger: "auto", signal })) ?? (isAtOnce ? undefined : offer);
    if (ready !== undefined) {
      return { compaction: await runCompaction(parts, { trigger: "auto", ...ready, signal }) };
    }
    const fitted = planOrReport(parts);
    const { floorTokens } = fitted;
    const threshold = gauge.thresholds.autoCompact;
    const shouldReport = isFloorReliable(parts) && health.shouldReportFloor({ floorTokens, threshold });
    if ("plan" in fitted) {
      const request = { trigger: "auto", ...fitted, withoutModel: isAtOnce, signal } as const;
      return { compaction: await runCompaction(parts, request) };
    }
    if (!shouldReport) return { skipped: "floor-above-threshold" };
    reporter.emit({ type: "floor-above-threshold", floorTokens, threshold });
    return { skipped: "floor-above-threshold", problem: floorTooHighError(floorTokens, threshold) };
  } catch (error) {
    // The summary will not save more later, because new messages are kept.
    if (failureReason(error) === "does_not_pay") background.discard("does-not-pay");
    return { problem: toProblem(error) };
  }
}

/** Returns a plan with a result below the threshold. Reports if there is nothing to compact. */
function planOrReport(parts: CompactionParts): ReturnType<typeof planUnder> {
  try {
    return findFittingPlan(parts);
  } catch (error) {
    if (error instanceof LonghaulError) reportFailure(parts, "auto", error, 0);
    throw error;
  }
}

/**
 * Returns true after the first usage report, or after enough turns without a report. Before that, the
 * estimate of system prompt and tools can be off by a third.
 */
const isFloorReliable = ({ gauge, health }: Needs<"gauge" | "health">): boolean =>
  gauge.reportedOverhead !== undefined || health.turn > TURNS_TO_WAIT_FOR_REPORT;

function floorTooHighError(floorTokens: number, threshold: number): LonghaulError {
  return new LonghaulError(
    "window-too-small",
    `The context window is too small: system prompt, tools and the smallest summary take ${formatCount(floorTokens)} tokens, and the threshold is ${formatCount(threshold)}. Compaction would not help, so nothing was compacted.`,
    {
      remedy: "Use a model with a larger context window, fewer tools, or a shorter system prompt.",
      facts: { floorTokens, threshold },
    },
  );
}

/**
 * If the estimate cannot decide, asks the provider once for the size of the next request. The estimate cannot
 * decide if no usage was reported yet and the blocking limit is within the estimate's error. If the count
 * fails or takes too long, keeps the estimate.
 */
async function countExactly(parts: EngineParts, signal: AbortSignal | undefined): Promise<void> {
  const { options, gauge, thread, now, reporter } = parts;
  const { model } = options;
  if (model === undefined || model.capabilities.countTokens !== "exact") return;
  if (!gauge.mayCountExactly || !isUndecided(parts)) return;
  const startedAt = now();
  const { tokens: estimatedTokens } = gauge.size();
  const request = { ...completeRequestFrame(parts), messages: thread.outbox()() };
  const count = await requestExactCount(model, request, signal);
  const tokens = count.outcome === "counted" ? count.tokens : undefined;
  if (tokens === undefined) gauge.exactCountFailed();
  else thread.setExactCount(tokens);
  const durationMs = now() - startedAt;
  reporter.emit({ type: "tokens-counted", outcome: count.outcome, estimatedTokens, tokens, durationMs });
}

function isUndecided({ gauge, modules }: Needs<"gauge" | "modules">): boolean {
  const { tokens, paddedTokens, source } = gauge.size();
  const { removedTokens, hiddenSinceReport } = modules.omittedTokens();
  // After a removal, the size is the last count minus the removed tokens. An exact count excludes them
  // already, so they would be subtracted twice.
  if (source === "usage" || removedTokens > 0 || hiddenSinceReport > 0) return false;
  return Math.abs(tokens - gauge.thresholds.blocking) <= paddedTokens - tokens;
}

type ExactCount =
  | { readonly outcome: "counted"; readonly tokens: number }
  | { readonly outcome: "failed" | "timed-out" };

/** Returns the provider's count of a request, or the reason for its failure. Throws only `aborted`. */
async function requestExactCount(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal | undefined,
): Promise<ExactCount> {
  try {
    const { tokens, source } = await waitWithTimeLimit(
      signal,
      EXACT_COUNT_TIMEOUT_MS,
      async (limited) => model.countTokens(request, { signal: limited }),
      () => timedOut(model.name, "answer", EXACT_COUNT_TIMEOUT_MS),
    );
    const isCount = source === "exact" && Number.isFinite(tokens) && tokens >= 0;
    return isCount ? { outcome: "counted", tokens } : { outcome: "failed" };
  } catch (error) {
    if (signal?.aborted) throw error;
    const isLate = error instanceof ModelError && error.failure.kind === "timed-out";
    return { outcome: isLate ? "timed-out" : "failed" };
  }
}

interface Outcome {
  readonly compaction?: Compaction | undefined;
  readonly cleared?: number;
  readonly skipped?: SkipReason | undefined;
  readonly problem?: LonghaulError | undefined;
}

type ResultParts = Needs<"thread" | "frame" | "gauge" | "turn" | "options" | "modules" | "reporter">;
type SendParts = ResultParts & Needs<"cache" | "pace" | "newLink" | "transcript">;

/** Creates the turn for the host before a call. */
export function turnToSend<T extends Message>(parts: SendParts, outcome: Outcome): Turn<T> {
  removeMisplacedThinking(parts);
  recordSending(parts);
  return turnResult(parts, outcome);
}

/** Creates the turn for the host between two calls. */
export function turnResult<T extends Message>(parts: ResultParts, outcome: Outcome): Turn<T> {
  const { gauge, reporter, thread, turn } = parts;
  const { tokens } = gauge.size();
  const window = windowState(tokens, gauge.thresholds);
  const problem =
    outcome.problem ??
    (window.isAtBlockingLimit ? windowFullError(tokens, gauge.thresholds) : reporter.nextProblem());
  const { compaction, cleared = 0, skipped } = outcome;
  const makeRequest = createRequestMaker(parts);
  let request: ModelRequest | undefined;
  const result: Omit<Turn<T>, "request"> = {
    id: turn.id,
    messages: thread.toHostForm(turn.hostMessages) as readonly T[],
    tokens,
    thresholds: gauge.thresholds,
    window,
    compaction,
    cleared,
    skipped: compaction === undefined ? skipped : undefined,
    findings: turn.findings,
    problem,
  };
  // The request is created on access. It needs a scan of the whole conversation, and not every host uses it.
  return Object.defineProperty(result, "request", { get: () => (request ??= makeRequest()) }) as Turn<T>;
}

/** Records the request as sent. The response is compared with this record later. */
function recordSending({ frame, options, thread, turn, cache }: SendParts): void {
  const { system, tools } = frame.current ?? {};
  const { modelName: model } = options;
  thread.recordSent();
  turn.recordCall();
  cache.recordCall({ system, tools, model, caller: turn.caller, messages: thread.outgoingMessages.length });
}

/** Captures the current messages, because the conversation may continue before the host reads the request. */
function createRequestMaker(parts: ResultParts): () => ModelRequest {
  const messages = parts.thread.outbox();
  const frame = completeRequestFrame(parts);
  const { capabilities, cacheTtl } = parts.options;
  const marks: CacheMarkOptions = cacheTtl === undefined ? {} : { ttl: cacheTtl };
  return () => {
    const request: ModelRequest = { ...frame, messages: messages() };
    return capabilities.promptCache ? withCacheMarks(request, marks) : request;
  };
}

function windowFullError(tokens: number, thresholds: Thresholds): LonghaulError {
  const { headroomBy } = thresholds;
  const isSwitchedOff = headroomBy === "manual" || headroomBy === "nobody";
  return new LonghaulError(
    "window-full",
    `The context window is full: the conversation has about ${formatCount(tokens)} tokens, and a request can have at most ${formatCount(thresholds.blocking)}.`,
    {
      remedy: isSwitchedOff
        ? `${remedyWithoutAutoCompact({ compactEnabled: headroomBy === "manual" })} You can also remove a few of the newest messages. Nothing is lost.`
        : "Compact the conversation manually, or remove a few of the newest messages. The next call may fail. Nothing is lost.",
      facts: { tokens, limit: thresholds.blocking },
    },
  );
}
