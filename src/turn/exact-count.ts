import { ModelError } from "../models/model-error.ts";
import type { Model, ModelRequest } from "../models/port.ts";
import { timedOut, withinTime } from "../models/time-limit.ts";
import type { ConversationState } from "./state.ts";
import { sendingFrame } from "./turn-result.ts";

/** A turn waits meanwhile, and the estimate is there already. */
const EXACT_COUNT_TIMEOUT_MS = 2_000;

type ExactCount =
  | { readonly outcome: "counted"; readonly tokens: number }
  | { readonly outcome: "failed" | "timed-out" };

/**
 * Asks the provider for the size of the next request, once, when the estimate cannot decide: no usage has been reported
 * yet, and the blocking limit lies within the error of the estimate. The estimate holds where the count fails or takes
 * too long.
 */
export async function countExactly(state: ConversationState, signal: AbortSignal | undefined): Promise<void> {
  const { model } = state.options;
  if (model === undefined || model.capabilities.countTokens !== "exact" || state.hasCountFailed) return;
  if (!isUndecided(state)) return;
  const startedAt = state.now();
  const { tokens: estimatedTokens } = state.size();
  const request = { ...sendingFrame(state), messages: state.thread.outbox()() };
  const count = await exactCount(model, request, signal);
  const tokens = count.outcome === "counted" ? count.tokens : undefined;
  if (tokens === undefined) state.hasCountFailed = true;
  else state.thread.meter.counted(tokens);
  const durationMs = state.now() - startedAt;
  state.emit({ type: "tokens-counted", outcome: count.outcome, estimatedTokens, tokens, durationMs });
}

function isUndecided(state: ConversationState): boolean {
  const { tokens, paddedTokens, source } = state.size();
  // The size is without what was taken out since the last usage: then there was one, or a count would subtract it twice.
  if (source === "usage" || state.snipFreed > 0 || state.cachedEdits.deletedLocally > 0) return false;
  return Math.abs(tokens - state.thresholds.blocking) <= paddedTokens - tokens;
}

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
