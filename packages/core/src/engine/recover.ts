import { tokensLeftOut } from "../compaction/clear/context-edits.ts";
import { planReactive, promptLimit } from "../compaction/plan/reactive.ts";
import { type SizedConversation, sizeUp, sum } from "../compaction/plan/sized.ts";
import { LonghaulError } from "../messages/errors.ts";
import { listField } from "../messages/untrusted.ts";
import { failureOf } from "../models/foreign-error.ts";
import { ModelError, type ModelFailure } from "../models/model-error.ts";
import { turnToSend } from "./before.ts";
import { sendingFrame } from "./fork.ts";
import type { Gauge } from "./gauge.ts";
import { remedyWithoutAutoCompact, whyNotNow } from "./health.ts";
import type { Message, Turn } from "./options.ts";
import { measuredBy, snapshotOf } from "./planning.ts";
import { codeOf, failureReason } from "./reporter.ts";
import { leaveOutAllThinking, noteFindings } from "./rewrite.ts";
import { type Compacted, runCompaction } from "./run-compaction.ts";

/**
 * After a failed call: the request to call again with. Undefined when the host's own error should go to the user.
 * Throws the overflow with a remedy when a switch is the only reason not to recover.
 */
export async function recover<T extends Message>(
  parts: Compacted,
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<Turn<T> | undefined> {
  const failed = failureOf(error);
  switch (failed?.failure.kind) {
    case "thinking-mismatch":
      return callWithoutThinking<T>(parts);
    case "thinking-missing":
      return callAsThinking<T>(parts);
    case "too-long":
    case "too-large":
      return compactAfterOverflow<T>(parts, failed, signal);
    default:
      return undefined;
  }
}

/** The provider refused thinking: the call is made again without any, once per turn. */
function callWithoutThinking<T extends Message>(parts: Compacted): Turn<T> | undefined {
  if (parts.turn.hasLeftOutThinking || !leaveOutAllThinking(parts)) return undefined;
  parts.turn.leavesOutThinking();
  return turnToSend<T>(parts, {});
}

/** The host enabled thinking without passing it in `request`. The check knows it from now on and repairs the turn. */
function callAsThinking<T extends Message>(parts: Compacted): Turn<T> | undefined {
  const { frame, thread, turn } = parts;
  if (!frame.assumeThinking()) return undefined;
  const findings = thread.reframe();
  thread.offerSent(turn.given);
  noteFindings(parts, findings);
  return findings.some(({ rule }) => rule === "thinking-not-first") ? turnToSend<T>(parts, {}) : undefined;
}

/** Once per turn, and again as long as each further error states figures that the last compaction did not have. */
async function compactAfterOverflow<T extends Message>(
  parts: Compacted,
  error: ModelError,
  signal: AbortSignal | undefined,
): Promise<Turn<T> | undefined> {
  const { health, turn, reporter, gauge, options } = parts;
  const { settings } = options;
  const last = turn.recoveredFrom;
  // The request of the last recovery did not fit either.
  if (last !== undefined) reporter.emitAll(health.judged("ineffective"));
  if (last !== undefined && !tellsMore(error.failure, last)) return undefined;
  const reason = whyNotNow("recovery", parts);
  if (reason === "disabled" || reason === "auto-disabled") {
    throw withRemedy(error, remedyWithoutAutoCompact(settings));
  }
  if (reason !== undefined) return undefined;
  turn.recovers(error.failure);
  if (isUnexpected(gauge, error)) gauge.overflowed();
  // With the figures of the request that failed: the window that the error states changes them.
  const edits = listField(sendingFrame(parts).context_management, "edits");
  if (error.failure.kind === "too-long" && error.failure.limit !== undefined)
    gauge.learnLimit(error.failure.limit);
  const tokensBefore = gauge.size().tokens;
  // Messages beside the summary have to stay within the stated limit as well.
  const stated = Math.floor(promptLimit(error.failure));
  const targetTokens = Math.min(stated, targetWithinReach(gauge));
  // The plan counts as the provider does, so the limit needs no padding.
  const limitTokens = Math.max(targetTokens, Math.min(stated, gauge.thresholds.blocking));
  try {
    const snapshot = snapshotOf(parts);
    const sized = sizeUp(snapshot, { measured: measuredBy(parts) });
    const plan = planReactive(snapshot, {
      failure: error.failure,
      sized,
      leftOutTokens: leftOutBy(edits, sized, error),
      targetTokens,
      limitTokens,
      keepRecentTokens: options.compaction.keepRecentTokens,
      usualRatio: gauge.usualRatio,
    });
    const compaction = await runCompaction(parts, {
      trigger: "reactive",
      plan,
      targetTokens,
      limitTokens,
      withoutModel: health.compactsTooOften(),
      signal,
    });
    const tokensAfter = gauge.size().tokens;
    reporter.emit({ type: "recovered", from: error.code, tokensBefore, tokensAfter });
    return turnToSend<T>(parts, { compaction });
  } catch (failure) {
    if (!(failure instanceof LonghaulError) || failureReason(failure) === "aborted") throw failure;
    reporter.emit({ type: "recovery-failed", from: error.code, code: codeOf(failure) });
    return undefined;
  }
}

/** True if the failure states a smaller prompt or window than the last one did, or states one for the first time. */
function tellsMore(failure: ModelFailure, last: ModelFailure): boolean {
  if (failure.kind !== "too-long") return false;
  const known = last.kind === "too-long" ? last : undefined;
  const isLess = (figure?: number, before = Number.POSITIVE_INFINITY): boolean =>
    figure !== undefined && figure < before;
  return isLess(failure.tokens, known?.tokens) || isLess(failure.limit, known?.limit);
}

/** Edits of the request let the provider clear old results before it compares the prompt with its window. */
function leftOutBy(edits: readonly unknown[], sized: SizedConversation, { failure }: ModelError): number {
  const { tokens = 0, outputTokens = 0 } = failure.kind === "too-long" ? failure : {};
  return tokensLeftOut(sized.sent, edits, {
    countedTokens: sized.overheadTokens + sum(sized.tokens),
    statedTokens: Math.max(0, tokens - outputTokens),
    tokensOf: sized.tokensSent.ofBlock,
  });
}

/** The same failure, with other advice. What the host's client threw is its cause. */
function withRemedy(error: ModelError, remedy: string): ModelError {
  const { failure, message, status, requestId, providerCode, partial } = error;
  return new ModelError(failure, message, {
    remedy,
    partial,
    cause: error.cause ?? error,
    ...(status === undefined ? {} : { status }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(providerCode === undefined ? {} : { providerCode }),
  });
}

/** If no compaction gets below the threshold, the target is what the window holds. */
function targetWithinReach({ thresholds, reportedOverhead = 0 }: Gauge): number {
  const { autoCompact, effective } = thresholds;
  return reportedOverhead < autoCompact ? autoCompact : effective;
}

/** True if the request fits by our own count: then the count is too low. */
function isUnexpected(gauge: Gauge, { failure }: ModelError): boolean {
  if (failure.kind !== "too-long") return false;
  const { limit = gauge.facts.windowTokens, outputTokens = 0 } = failure;
  return gauge.size().tokens < limit - outputTokens;
}
