import { exactCount } from "../models/exact-count.ts";
import type { ConversationState } from "./state.ts";
import { sendingFrame } from "./turn-result.ts";

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
  const count = await exactCount(model, request, { signal });
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
