import type { planUnder } from "../compaction/plan/compaction-plan.ts";
import type { AttachmentEntry, Entry } from "../conversation/entry.ts";
import { isEntry } from "../conversation/entry.ts";
import { formatCount } from "../conversation/text.ts";
import { LonghaulError } from "../errors.ts";
import { timedOut, withinTime } from "../models/abortable.ts";
import { ModelError } from "../models/model-error.ts";
import type { Model, ModelRequest } from "../models/port.ts";
import { visiblePaths } from "../restore/read-state.ts";
import { inProportion } from "../window/thresholds.ts";
import { clearStale } from "./clear-stale.ts";
import type { SkipReason } from "./events.ts";
import { whyNotNow } from "./guards.ts";
import type { BeforeOptions, Message, Turn } from "./options.ts";
import type { EngineParts, Needs } from "./parts.ts";
import { fittingPlan, sendingFrame, snapshotOf } from "./planning.ts";
import { failureReason } from "./reporter.ts";
import { limitMedia, noteFindings } from "./rewrite.ts";
import { type Compacted, reportFailure, runCompaction } from "./run-compaction.ts";
import { beginTurn, takeIn } from "./take-in.ts";
import { type Outcome, turnToSend } from "./turn-result.ts";

/** Some providers report nothing: then the estimate is all there is. */
const TURNS_TO_WAIT_FOR_REPORT = 3;

/** Tokens of memory files attached in one turn. Rules that take more would leave little of the window for the work. */
const MEMORY_BUDGET_TOKENS = 20_000;

/** A turn waits for the provider's count meanwhile, and the estimate is there already. */
const EXACT_COUNT_TIMEOUT_MS = 2_000;

/** What happens before a model call: read what is new, clear, count, decide, carry out, hand back. */
export async function before<T extends Message>(
  parts: EngineParts,
  messages: readonly T[],
  options: BeforeOptions,
): Promise<Turn<T>> {
  const { signal } = options;
  beginTurn(parts, options);
  takeIn(parts, messages);
  await attachMemoryFiles(parts, signal);
  limitMedia(parts);
  const cleared = await clearStale(parts, signal);
  await countExactly(parts, signal);
  const problem = await makeRoom(parts, signal);
  const decision = decide(parts);
  const outcome: Outcome =
    decision === "compact" ? await compactByItself(parts, signal) : { skipped: decision, problem };
  return turnToSend<T>(parts, { cleared, ...outcome });
}

/** Only after the guards do tokens count. */
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

/** Memory files that govern what the agent has touched since the last call, once each, after the newest message. */
async function attachMemoryFiles(parts: EngineParts, signal: AbortSignal | undefined): Promise<void> {
  const { memory, options, thread, gauge, newLink, transcript, reporter } = parts;
  if (memory === undefined || isAnswerOpen(thread.entries)) return;
  const { attachments, files, skipped } = await memory.drain({
    countTokens: gauge.countTokens,
    budgetTokens: inProportion(gauge.thresholds, MEMORY_BUDGET_TOKENS),
    visible: () => {
      const { entries, clearedToolUseIds } = snapshotOf(parts);
      return visiblePaths(entries, { tools: options.fileTools, clearedToolUseIds });
    },
    signal,
  });
  if (attachments.length > 0) {
    let parent = thread.leaf;
    const entries = attachments.map((attachment): AttachmentEntry => {
      const link = newLink(parent);
      parent = link.uuid;
      return { ...link, type: "attachment", attachment };
    });
    noteFindings(parts, thread.attach(entries));
    transcript.add(entries);
  }
  if (files.length > 0 || skipped.length > 0) reporter.emit({ type: "memory-attached", files, skipped });
}

/** The model is to continue its own message, or a result is still to come: nothing may stand between. */
function isAnswerOpen(entries: readonly Entry[]): boolean {
  const newest = entries.findLast(
    (entry) => isEntry(entry) && entry.type !== "system" && entry.type !== "progress",
  );
  return newest?.type === "assistant";
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
