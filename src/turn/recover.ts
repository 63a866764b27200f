import { tokensLeftOut } from "../clear/api-edits.ts";
import { planReactive, promptLimit } from "../compaction/plan/reactive.ts";
import { type SizedConversation, sizeUp, sum } from "../compaction/plan/sized.ts";
import { listField } from "../conversation/untrusted.ts";
import { LonghaulError } from "../errors.ts";
import { failureOf } from "../models/foreign-error.ts";
import { ModelError, type ModelFailure } from "../models/model-error.ts";
import { codeOf, failureReason } from "./failure-reason.ts";
import { remedyWithoutAutoCompact, whyNotToRecover } from "./guards.ts";
import { leaveOutAllThinking } from "./leave-out-thinking.ts";
import type { Message, Turn } from "./options.ts";
import { runCompaction } from "./run-compaction.ts";
import { measuredBy, snapshotOf } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";
import { sendingFrame, turnToSend } from "./turn-result.ts";

/**
 * After a failed call: the request to call again with. Undefined when the host's own error should go to the user.
 * Throws the overflow with a remedy when a switch is the only reason not to recover.
 */
export async function recover<T extends Message>(
  state: ConversationState,
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<Turn<T> | undefined> {
  const failed = failureOf(error);
  switch (failed?.failure.kind) {
    case "thinking-mismatch":
      return callWithoutThinking<T>(state);
    case "thinking-missing":
      return callAsThinking<T>(state);
    case "too-long":
    case "too-large":
      return compactAfterOverflow<T>(state, failed, signal);
    default:
      return undefined;
  }
}

/** The provider refused thinking: the call is made again without any, once per turn. */
function callWithoutThinking<T extends Message>(state: ConversationState): Turn<T> | undefined {
  if (state.hasStrippedThinking || !leaveOutAllThinking(state)) return undefined;
  state.hasStrippedThinking = true;
  return turnToSend<T>(state, {});
}

/** The host enabled thinking without passing it in `request`. The check knows it from now on and repairs the turn. */
const callAsThinking = <T extends Message>(state: ConversationState): Turn<T> | undefined =>
  state.learnThinking() ? turnToSend<T>(state, {}) : undefined;

/** Once per turn, and again as long as each further error states figures that the last compaction did not have. */
async function compactAfterOverflow<T extends Message>(
  state: ConversationState,
  error: ModelError,
  signal: AbortSignal | undefined,
): Promise<Turn<T> | undefined> {
  const { settings } = state.options;
  const { breaker, caller } = state;
  const last = state.recoveredFrom;
  // The request of the last recovery did not fit either.
  if (last !== undefined) state.emitAll(breaker.judged("ineffective"));
  if (last !== undefined && !tellsMore(error.failure, last)) return undefined;
  const reason = whyNotToRecover({ settings, breaker, caller });
  if (reason === "disabled" || reason === "auto-disabled") {
    throw withRemedy(error, remedyWithoutAutoCompact(settings));
  }
  if (reason !== undefined) return undefined;
  state.recoveredFrom = error.failure;
  if (isUnexpected(state, error)) state.usageTrust.overflowed();
  // With the figures of the request that failed: the window that the error states changes them.
  const edits = listField(sendingFrame(state).context_management, "edits");
  learnLimit(state, error);
  const tokensBefore = state.size().tokens;
  // Messages beside the summary have to stay within the stated limit as well.
  const stated = Math.floor(promptLimit(error.failure));
  const targetTokens = Math.min(stated, targetWithinReach(state));
  // The plan counts as the provider does, so the limit needs no padding.
  const limitTokens = Math.max(targetTokens, Math.min(stated, state.thresholds.blocking));
  try {
    const snapshot = snapshotOf(state);
    const sized = sizeUp(snapshot, { measured: measuredBy(state) });
    const plan = planReactive(snapshot, {
      failure: error.failure,
      sized,
      leftOutTokens: leftOutBy(edits, sized, error),
      targetTokens,
      limitTokens,
      keepRecentTokens: state.options.compaction.keepRecentTokens,
      usualRatio: state.usualRatio,
    });
    const compaction = await runCompaction(state, {
      trigger: "reactive",
      plan,
      targetTokens,
      limitTokens,
      withoutModel: breaker.compactsTooOften(),
      signal,
    });
    const tokensAfter = state.size().tokens;
    state.emit({ type: "recovered", from: error.code, tokensBefore, tokensAfter });
    return turnToSend<T>(state, { compaction });
  } catch (failure) {
    if (!(failure instanceof LonghaulError) || failureReason(failure) === "aborted") throw failure;
    state.emit({ type: "recovery-failed", from: error.code, code: codeOf(failure) });
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

/** Where no compaction gets below the threshold, what the window holds is all there is to aim at. */
function targetWithinReach({ thresholds, overheadTokens = 0 }: ConversationState): number {
  const { autoCompact, effective } = thresholds;
  return overheadTokens < autoCompact ? autoCompact : effective;
}

/** True if the request fits by our own count: then the count is too low. */
function isUnexpected(state: ConversationState, { failure }: ModelError): boolean {
  if (failure.kind !== "too-long") return false;
  const { limit = state.facts.windowTokens, outputTokens = 0 } = failure;
  return state.size().tokens < limit - outputTokens;
}

/** The provider says how large its window is; a table may be wrong, or a server started with less. */
function learnLimit(state: ConversationState, { failure }: ModelError): void {
  if (failure.kind !== "too-long" || failure.limit === undefined) return;
  state.statedLimitTokens = failure.limit;
  if (failure.limit >= state.facts.windowTokens) return;
  state.learnWindow({ ...state.facts, windowTokens: failure.limit, windowOrigin: "provider-limit" });
}
