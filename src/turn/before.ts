import { formatCount } from "../conversation/text.ts";
import { LonghaulError } from "../errors.ts";
import { attachMemoryFiles } from "./attach-memory.ts";
import { clearStale } from "./clear-stale.ts";
import type { SkipReason } from "./events.ts";
import { countExactly } from "./exact-count.ts";
import { failureReason } from "./failure-reason.ts";
import { planThatFits } from "./fitting-plan.ts";
import { planByNotes } from "./from-notes.ts";
import { whyNotToCompactNow } from "./guards.ts";
import { limitMedia } from "./limit-media.ts";
import type { BeforeOptions, Message, Turn } from "./options.ts";
import { runCompaction } from "./run-compaction.ts";
import type { ConversationState } from "./state.ts";
import { type Outcome, turnToSend } from "./turn-result.ts";

/** Some providers report nothing: then the estimate is all there is. */
const TURNS_TO_WAIT_FOR_REPORT = 3;

/** What happens before a model call: take in what is new, clear, count, decide, carry out, hand back. */
export async function before<T extends Message>(
  state: ConversationState,
  messages: readonly T[],
  options: BeforeOptions,
): Promise<Turn<T>> {
  state.beginTurn(options);
  state.takeIn(messages);
  await attachMemoryFiles(state, options.signal);
  limitMedia(state);
  const cleared = await clearStale(state, options.signal);
  await countExactly(state, options.signal);
  const { problem } = await collapseByItself(state, options.signal);
  const decision = decide(state);
  const outcome: Outcome =
    decision === "compact" ? await compactByItself(state, options.signal) : { skipped: decision, problem };
  return turnToSend<T>(state, { cleared, ...outcome });
}

/** Only after the guards do tokens count. */
function decide(state: ConversationState): "compact" | SkipReason {
  const { autoCompact, effective } = state.thresholds;
  const size = state.size();
  const { tokens: tokensAlone, paddedTokens } = size;
  state.emitAll(state.breaker.sized({ tokens: paddedTokens, tokensAlone, threshold: autoCompact }));
  const guard = whyNotToCompactNow(state);
  const decision = guard ?? (size.paddedTokens < autoCompact ? "below-threshold" : ripeness(state));
  if (state.options.host?.onEvent !== undefined) {
    const { tokens, source } = size;
    const { snipFreed } = state;
    state.emit({
      type: "window-checked",
      tokens,
      source,
      threshold: autoCompact,
      effective,
      snipFreed,
      decision,
    });
  }
  return decision;
}

/** Our own count is no proof that the last compaction did not help: the next response tells. */
function ripeness(state: ConversationState): "compact" | SkipReason {
  if (state.breaker.restsAfterUndo(state.size().tokens)) return "just-undone";
  if (state.breaker.restsAfterLoss()) return "did-not-pay";
  return state.breaker.isResting() || isResumedAfterCompaction(state) ? "just-compacted" : "compact";
}

/** It was the last that another process did, and only the safety margin of our count asks for the next one. */
function isResumedAfterCompaction(state: ConversationState): boolean {
  const { breaker, thread, thresholds } = state;
  const mayBeReported = breaker.turn <= TURNS_TO_WAIT_FOR_REPORT;
  return mayBeReported && thread.meter.isUnreported && state.size().tokens < thresholds.autoCompact;
}

async function collapseByItself(state: ConversationState, signal: AbortSignal | undefined): Promise<Outcome> {
  try {
    await state.collapse?.makeRoom(signal);
    return {};
  } catch (error) {
    return { problem: problemIn(error) };
  }
}

/** A failure is no reason not to call: it may still fit, and if not there is recovery. An abort is one. */
function problemIn(error: unknown): LonghaulError {
  if (error instanceof LonghaulError && failureReason(error) !== "aborted") return error;
  throw error;
}

async function compactByItself(state: ConversationState, signal: AbortSignal | undefined): Promise<Outcome> {
  try {
    const offer = state.background.offer();
    if (offer === "under-way") return { skipped: "summary-under-way" };
    const isAtOnce = offer === "at-once";
    const ready = (await planByNotes(state, "auto", signal)) ?? (isAtOnce ? undefined : offer);
    if (ready !== undefined) {
      return { compaction: await runCompaction(state, { trigger: "auto", ...ready, signal }) };
    }
    const fitted = planThatFits(state);
    const { floorTokens } = fitted;
    const threshold = state.thresholds.autoCompact;
    const isNews = isFloorSure(state) && state.floorNotice.isNews({ floorTokens, threshold });
    if ("plan" in fitted) {
      const request = { trigger: "auto", ...fitted, withoutModel: isAtOnce, signal } as const;
      return { compaction: await runCompaction(state, request) };
    }
    if (!isNews) return { skipped: "floor-above-threshold" };
    state.emit({ type: "floor-above-threshold", floorTokens, threshold });
    return { skipped: "floor-above-threshold", problem: floorTooHigh(floorTokens, threshold) };
  } catch (error) {
    // More messages do not make it pay: they are kept.
    if (failureReason(error) === "does_not_pay") state.background.discard("does-not-pay");
    return { problem: problemIn(error) };
  }
}

/** An estimate of all that stands before the first message may be off by a third: a report tells more. */
const isFloorSure = ({ overheadTokens, breaker }: ConversationState): boolean =>
  overheadTokens !== undefined || breaker.turn > TURNS_TO_WAIT_FOR_REPORT;

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
