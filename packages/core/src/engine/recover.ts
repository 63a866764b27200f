import { tokensLeftOut } from "../compaction/clear/context-edits.ts";
import { planReactive, promptLimit } from "../compaction/plan/reactive.ts";
import { measureConversation, type SizedConversation, sum } from "../compaction/plan/sized.ts";
import { LonghaulError } from "../messages/errors.ts";
import { listField } from "../messages/untrusted.ts";
import { failureOf } from "../models/foreign-error.ts";
import { ModelError, type ModelFailure } from "../models/model-error.ts";
import { turnToSend } from "./before.ts";
import { completeRequestFrame } from "./fork.ts";
import type { Gauge } from "./gauge.ts";
import { remedyWithoutAutoCompact, skipReasonFor } from "./health.ts";
import type { Message, Turn } from "./options.ts";
import { cachedMeasures, snapshotOf } from "./planning.ts";
import { codeOf, failureReason } from "./reporter.ts";
import { noteFindings, removeAllThinking } from "./rewrite.ts";
import { type CompactionParts, runCompaction } from "./run-compaction.ts";

/**
 * Handles a failed call and returns the request for the retry. Returns undefined if the host should show its
 * own error. Throws the overflow with a remedy if only a switch forbids the recovery.
 */
export async function recover<T extends Message>(
  parts: CompactionParts,
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<Turn<T> | undefined> {
  const failed = failureOf(error);
  switch (failed?.failure.kind) {
    case "thinking-mismatch":
      return retryWithoutThinking<T>(parts);
    case "thinking-missing":
      return retryAssumingThinking<T>(parts);
    case "too-long":
    case "too-large":
      return compactAfterOverflow<T>(parts, failed, signal);
    default:
      return undefined;
  }
}

/** Retries once per turn without any thinking, after the provider refused thinking blocks. */
function retryWithoutThinking<T extends Message>(parts: CompactionParts): Turn<T> | undefined {
  if (parts.turn.hasRemovedThinking || !removeAllThinking(parts)) return undefined;
  parts.turn.recordThinkingRemoval();
  return turnToSend<T>(parts, {});
}

/**
 * Retries after the host enabled thinking without passing it in `request`. The check now assumes thinking and
 * repairs the turn.
 */
function retryAssumingThinking<T extends Message>(parts: CompactionParts): Turn<T> | undefined {
  const { frame, thread, turn } = parts;
  if (!frame.assumeThinking()) return undefined;
  const findings = thread.reframe();
  thread.returnSentMessages(turn.hostMessages);
  noteFindings(parts, findings);
  return findings.some(({ rule }) => rule === "thinking-not-first") ? turnToSend<T>(parts, {}) : undefined;
}

/**
 * Compacts once per turn. If the error of a further overflow states figures that the last compaction did not
 * have, compacts again.
 */
async function compactAfterOverflow<T extends Message>(
  parts: CompactionParts,
  error: ModelError,
  signal: AbortSignal | undefined,
): Promise<Turn<T> | undefined> {
  const { health, turn, reporter, gauge, options } = parts;
  const { settings } = options;
  const last = turn.recoveredFrom;
  // The request that the last recovery returned did not fit either.
  if (last !== undefined) reporter.emitAll(health.recordVerdict("ineffective"));
  if (last !== undefined && !hasNewFigures(error.failure, last)) return undefined;
  const reason = skipReasonFor("recovery", parts);
  if (reason === "disabled" || reason === "auto-disabled") {
    throw withRemedy(error, remedyWithoutAutoCompact(settings));
  }
  if (reason !== undefined) return undefined;
  turn.recordRecovery(error.failure);
  if (isUnexpectedOverflow(gauge, error)) gauge.recordOverflow();
  // Reads the edits of the failed request now, because the limit in the error changes them.
  const edits = listField(completeRequestFrame(parts).context_management, "edits");
  if (error.failure.kind === "too-long" && error.failure.limit !== undefined)
    gauge.learnLimit(error.failure.limit);
  const tokensBefore = gauge.size().tokens;
  // The whole new request must stay within the limit that the error states.
  const stated = Math.floor(promptLimit(error.failure));
  const targetTokens = Math.min(stated, reachableTarget(gauge));
  // The plan uses the provider's count in the error, so the limit needs no padding.
  const limitTokens = Math.max(targetTokens, Math.min(stated, gauge.thresholds.blocking));
  try {
    const snapshot = snapshotOf(parts);
    const sized = measureConversation(snapshot, { measured: cachedMeasures(parts) });
    const plan = planReactive(snapshot, {
      failure: error.failure,
      sized,
      leftOutTokens: tokensClearedByEdits(edits, sized, error),
      targetTokens,
      limitTokens,
      keepRecentTokens: options.compaction.keepRecentTokens,
      usualRatio: gauge.typicalRatio,
    });
    const compaction = await runCompaction(parts, {
      trigger: "reactive",
      plan,
      targetTokens,
      limitTokens,
      withoutModel: health.isCompactingTooOften(),
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

/**
 * Compares the sizes of prompt and limit that two failures state. Returns true if one of them is now smaller,
 * or is stated for the first time.
 */
function hasNewFigures(failure: ModelFailure, last: ModelFailure): boolean {
  if (failure.kind !== "too-long") return false;
  const known = last.kind === "too-long" ? last : undefined;
  const isLess = (figure?: number, before = Number.POSITIVE_INFINITY): boolean =>
    figure !== undefined && figure < before;
  return isLess(failure.tokens, known?.tokens) || isLess(failure.limit, known?.limit);
}

/**
 * Returns the tokens that the provider clears because of the request's edits. The provider clears them before
 * it compares the prompt with its window.
 */
function tokensClearedByEdits(
  edits: readonly unknown[],
  sized: SizedConversation,
  { failure }: ModelError,
): number {
  const { tokens = 0, outputTokens = 0 } = failure.kind === "too-long" ? failure : {};
  return tokensLeftOut(sized.sent, edits, {
    countedTokens: sized.overheadTokens + sum(sized.tokens),
    statedTokens: Math.max(0, tokens - outputTokens),
    tokensOf: sized.tokensSent.ofBlock,
  });
}

/** Returns the same failure with another remedy. Its cause is the error from the host's client. */
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

/**
 * Returns the target size, which is usually the threshold. If no compaction can get below the threshold, the
 * target is the usable window.
 */
function reachableTarget({ thresholds, reportedOverhead = 0 }: Gauge): number {
  const { autoCompact, effective } = thresholds;
  return reportedOverhead < autoCompact ? autoCompact : effective;
}

/** Returns true if the request fits by our own count. In that case, our count is too low. */
function isUnexpectedOverflow(gauge: Gauge, { failure }: ModelError): boolean {
  if (failure.kind !== "too-long") return false;
  const { limit = gauge.facts.windowTokens, outputTokens = 0 } = failure;
  return gauge.size().tokens < limit - outputTokens;
}
