import type { Compaction } from "../compaction/compact.ts";
import type { planUnder } from "../compaction/plan/compaction-plan.ts";
import { type Thresholds, windowState } from "../measure/window/thresholds.ts";
import { LonghaulError } from "../messages/errors.ts";
import { formatCount } from "../messages/text.ts";
import { withinTime } from "../models/abortable.ts";
import { ModelError } from "../models/model-error.ts";
import { timedOut } from "../models/model-time-limits.ts";
import type { Model, ModelRequest } from "../models/port.ts";
import { type CacheMarkOptions, withCacheMarks } from "../models/prompt-cache-marks.ts";
import { clearStale } from "./clear-stale.ts";
import type { SkipReason } from "./events.ts";
import { sendingFrame } from "./fork.ts";
import { remedyWithoutAutoCompact, whyNotNow } from "./health.ts";
import type { BeforeOptions, Message, Turn } from "./options.ts";
import type { EngineParts, Needs } from "./parts.ts";
import { fittingPlan } from "./planning.ts";
import { failureReason } from "./reporter.ts";
import { leaveOutMisplacedThinking, limitMedia, noteFindings, takeIn } from "./rewrite.ts";
import { type Compacted, reportFailure, runCompaction } from "./run-compaction.ts";

/** Some providers report nothing: then the estimate is all there is. */
const TURNS_TO_WAIT_FOR_REPORT = 3;

/** A turn waits for the provider's count meanwhile, and the estimate is there already. */
const EXACT_COUNT_TIMEOUT_MS = 2_000;

/** The turn before a model call: read what is new, clear, count, decide, carry out, hand back. */
export async function before<T extends Message>(
  parts: EngineParts,
  messages: readonly T[],
  options: BeforeOptions,
): Promise<Turn<T>> {
  const { signal } = options;
  beginTurn(parts, options);
  takeIn(parts, messages);
  await parts.modules.addContext(signal);
  limitMedia(parts);
  const cleared = await clearStale(parts, signal);
  await countExactly(parts, signal);
  const problem = await makeRoom(parts, signal);
  const decision = decide(parts);
  const outcome: Outcome =
    decision === "compact" ? await compactByItself(parts, signal) : { skipped: decision, problem };
  return turnToSend<T>(parts, { cleared, ...outcome });
}

/** A turn begins: with its caller, and another request around the messages if the host passes one. */
function beginTurn(
  parts: Needs<"turn" | "frame" | "gauge" | "thread" | "health" | "reporter">,
  { caller, request }: BeforeOptions,
): void {
  const { turn, frame, gauge, thread, health, reporter } = parts;
  turn.begin(caller);
  const { isNew, isCheckedAnew } = frame.replace(request);
  if (isNew) gauge.forgetOverhead();
  if (isCheckedAnew) noteFindings(parts, thread.reframe());
  reporter.emitAll(health.onTurn());
}

/** Guards come before the threshold. A conversation that shrank may close the breaker first. */
function decide(parts: Compacted): "compact" | SkipReason {
  const { gauge, health, reporter, modules } = parts;
  const { autoCompact, effective } = gauge.thresholds;
  const { tokens, paddedTokens, source } = gauge.size();
  reporter.emitAll(health.sized({ tokens: paddedTokens, tokensAlone: tokens, threshold: autoCompact }));
  const decision =
    whyNotNow("auto", parts) ?? (paddedTokens < autoCompact ? "below-threshold" : ripeness(parts));
  const { removedTokens: snipFreed } = modules.leftOut();
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

/** Our own count is no proof that the last compaction did not help: the next response tells. */
function ripeness(parts: Compacted): "compact" | SkipReason {
  const { health, gauge } = parts;
  return (
    health.state(gauge.size().tokens) ?? (isResumedAfterCompaction(parts) ? "just-compacted" : "compact")
  );
}

/** Another process compacted last, and only the safety margin of our count asks for the next compaction. */
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
    return problemIn(error);
  }
}

/** A failure is no reason not to call: it may still fit, and if not there is recovery. An abort is one. */
function problemIn(error: unknown): LonghaulError {
  if (error instanceof LonghaulError && failureReason(error) !== "aborted") return error;
  throw error;
}

async function compactByItself(parts: Compacted, signal: AbortSignal | undefined): Promise<Outcome> {
  const { background, modules, gauge, health, reporter } = parts;
  try {
    const offer = background.offer();
    if (offer === "under-way") return { skipped: "summary-under-way" };
    const isAtOnce = offer === "at-once";
    const ready = (await modules.offerPlan({ trigger: "auto", signal })) ?? (isAtOnce ? undefined : offer);
    if (ready !== undefined) {
      return { compaction: await runCompaction(parts, { trigger: "auto", ...ready, signal }) };
    }
    const fitted = planThatFits(parts);
    const { floorTokens } = fitted;
    const threshold = gauge.thresholds.autoCompact;
    const isNews = isFloorSure(parts) && health.isFloorNews({ floorTokens, threshold });
    if ("plan" in fitted) {
      const request = { trigger: "auto", ...fitted, withoutModel: isAtOnce, signal } as const;
      return { compaction: await runCompaction(parts, request) };
    }
    if (!isNews) return { skipped: "floor-above-threshold" };
    reporter.emit({ type: "floor-above-threshold", floorTokens, threshold });
    return { skipped: "floor-above-threshold", problem: floorTooHigh(floorTokens, threshold) };
  } catch (error) {
    // More messages do not make it pay: they are kept.
    if (failureReason(error) === "does_not_pay") background.discard("does-not-pay");
    return { problem: problemIn(error) };
  }
}

/** A plan that gets under the threshold. That there is nothing to compact is reported. */
function planThatFits(parts: Compacted): ReturnType<typeof planUnder> {
  try {
    return fittingPlan(parts);
  } catch (error) {
    if (error instanceof LonghaulError) reportFailure(parts, "auto", error, 0);
    throw error;
  }
}

/** The estimate for the system prompt and tools can be off by a third, so wait for the first reported usage. */
const isFloorSure = ({ gauge, health }: Needs<"gauge" | "health">): boolean =>
  gauge.reportedOverhead !== undefined || health.turn > TURNS_TO_WAIT_FOR_REPORT;

function floorTooHigh(floorTokens: number, threshold: number): LonghaulError {
  return new LonghaulError(
    "window-full",
    `What cannot be compacted (system prompt, tools, the smallest summary) takes ${formatCount(floorTokens)} tokens, and the threshold is ${formatCount(threshold)}: compacting would not help, so nothing was compacted.`,
    {
      remedy: "Use a model with a larger window, or fewer tools, or a shorter system prompt.",
      facts: { floorTokens, threshold },
    },
  );
}

/**
 * Asks the provider for the size of the next request, once, when the estimate cannot decide: no usage has been reported
 * yet, and the blocking limit lies within the error of the estimate. The estimate holds if the count fails or takes
 * too long.
 */
async function countExactly(parts: EngineParts, signal: AbortSignal | undefined): Promise<void> {
  const { options, gauge, thread, now, reporter } = parts;
  const { model } = options;
  if (model === undefined || model.capabilities.countTokens !== "exact") return;
  if (!gauge.mayCountExactly || !isUndecided(parts)) return;
  const startedAt = now();
  const { tokens: estimatedTokens } = gauge.size();
  const request = { ...sendingFrame(parts), messages: thread.outbox()() };
  const count = await exactCount(model, request, signal);
  const tokens = count.outcome === "counted" ? count.tokens : undefined;
  if (tokens === undefined) gauge.exactCountFailed();
  else thread.counted(tokens);
  const durationMs = now() - startedAt;
  reporter.emit({ type: "tokens-counted", outcome: count.outcome, estimatedTokens, tokens, durationMs });
}

function isUndecided({ gauge, modules }: Needs<"gauge" | "modules">): boolean {
  const { tokens, paddedTokens, source } = gauge.size();
  const { removedTokens, hiddenSinceReport } = modules.leftOut();
  // The size is without what was taken out since the last usage: then there was one, or a count would subtract it twice.
  if (source === "usage" || removedTokens > 0 || hiddenSinceReport > 0) return false;
  return Math.abs(tokens - gauge.thresholds.blocking) <= paddedTokens - tokens;
}

type ExactCount =
  | { readonly outcome: "counted"; readonly tokens: number }
  | { readonly outcome: "failed" | "timed-out" };

/** The provider's own count of a request, or why there is none. Fails only with `aborted`, after an abort. */
async function exactCount(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal | undefined,
): Promise<ExactCount> {
  try {
    const { tokens, source } = await withinTime(
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

type Answered = Needs<"thread" | "frame" | "gauge" | "turn" | "options" | "modules" | "reporter">;
type Sending = Answered & Needs<"cache" | "pace" | "newLink" | "transcript">;

/** The turn that the host gets before a call. */
export function turnToSend<T extends Message>(parts: Sending, outcome: Outcome): Turn<T> {
  leaveOutMisplacedThinking(parts);
  noteSending(parts);
  return turnResult(parts, outcome);
}

/** The turn that the host gets between two calls. */
export function turnResult<T extends Message>(parts: Answered, outcome: Outcome): Turn<T> {
  const { gauge, reporter, thread, turn } = parts;
  const { tokens } = gauge.size();
  const window = windowState(tokens, gauge.thresholds);
  const problem =
    outcome.problem ??
    (window.isAtBlockingLimit ? windowFull(tokens, gauge.thresholds) : reporter.nextProblem());
  const { compaction, cleared = 0, skipped } = outcome;
  const makeRequest = requestMaker(parts);
  let request: ModelRequest | undefined;
  const result: Omit<Turn<T>, "request"> = {
    id: turn.id,
    messages: thread.handBack(turn.given) as readonly T[],
    tokens,
    thresholds: gauge.thresholds,
    window,
    compaction,
    cleared,
    skipped: compaction === undefined ? skipped : undefined,
    findings: turn.findings,
    problem,
  };
  // Made when it is asked for: marks are looked for in the whole conversation, and not every host sends this.
  return Object.defineProperty(result, "request", { get: () => (request ??= makeRequest()) }) as Turn<T>;
}

/** The response will be compared with this. */
function noteSending({ frame, options, thread, turn, cache }: Sending): void {
  const { system, tools } = frame.current ?? {};
  const { modelName: model } = options;
  thread.noteSent();
  turn.sent();
  cache.sent({ system, tools, model, caller: turn.caller, messages: thread.sent.length });
}

/** Holds on to what is sent now: the conversation goes on before the request may be asked for. */
function requestMaker(parts: Answered): () => ModelRequest {
  const messages = parts.thread.outbox();
  const frame = sendingFrame(parts);
  const { capabilities, cacheTtl } = parts.options;
  const marks: CacheMarkOptions = cacheTtl === undefined ? {} : { ttl: cacheTtl };
  return () => {
    const request: ModelRequest = { ...frame, messages: messages() };
    return capabilities.promptCache ? withCacheMarks(request, marks) : request;
  };
}

function windowFull(tokens: number, thresholds: Thresholds): LonghaulError {
  const { headroomBy } = thresholds;
  const isSwitchedOff = headroomBy === "manual" || headroomBy === "nobody";
  return new LonghaulError(
    "window-full",
    `The conversation has about ${formatCount(tokens)} tokens of the ${formatCount(thresholds.blocking)} that can still be called with.`,
    {
      remedy: isSwitchedOff
        ? `${remedyWithoutAutoCompact({ compactEnabled: headroomBy === "manual" })} You can also go back a few messages. Nothing has been lost.`
        : "Compact it by hand, or go back a few messages. A call may fail; nothing has been lost.",
      facts: { tokens, limit: thresholds.blocking },
    },
  );
}
