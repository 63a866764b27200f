import { jsonBytes, mostJsonBytes } from "../../conversation/check/json-bytes.ts";
import { MAX_REQUEST_BYTES } from "../../conversation/check/limits.ts";
import { inputTokens } from "../../conversation/usage.ts";
import type { ModelError } from "../../models/model-error.ts";
import type { ModelReply, ModelRequest } from "../../models/port.ts";
import { type CountText, measureRequest } from "../../tokens/measure.ts";
import { type Cut, cutOldest, inTokens } from "./cut.ts";
import { messagesToSummarise } from "./messages.ts";

/** What did not fit is told by the built-in summariser, within this many tokens. */
export const DIGEST_TOKENS = 3_000;

/** The answer gets at most this share of the window, so that a small one is not all answer. */
const ANSWER_SHARE = 0.25;

/** What an adapter puts around a request (names, betas), and what the notes on a first cut add, at most. */
const FRAME_BYTES = 32_000;

/** From so many times the output on, a figure that may include it tells how the provider counts. */
const SURE_FIGURE_OUTPUTS = 4;

/** A request that was sent, and what of the conversation it held. */
export interface Sent {
  readonly cut: Cut;
  readonly request: ModelRequest;
  readonly countTokens: CountText;
}

/** Less of the conversation after it was too much; undefined where nothing more can go. */
export function shorterAfter({ failure }: ModelError, sent: Sent): Cut | undefined {
  if (failure.kind !== "too-long" || failure.tokens === undefined || failure.limit === undefined) {
    return cutOldest(sent.cut, undefined, inTokens(sent.countTokens));
  }
  const excess = failure.tokens - failure.limit + DIGEST_TOKENS + roomForAnswer(failure.limit, sent);
  return without(excess, failure.tokens, sent);
}

/**
 * Less of the conversation where it fitted but left no room: newer models take such a request and break the
 * summary off at the end of the window. Undefined where that did not happen or nothing more can go.
 */
export function shorterForRoom({ stopReason, usage }: ModelReply, sent: Sent): Cut | undefined {
  if (stopReason !== "model_context_window_exceeded") return undefined;
  const tokens = inputTokens(usage);
  const wanted = roomForAnswer(tokens + usage.output_tokens, sent) - usage.output_tokens;
  return wanted <= 0 ? undefined : without(wanted + DIGEST_TOKENS, tokens, sent);
}

/** Less of the conversation where its bytes are more than any API takes; undefined where nothing more can go. */
export function shorterForBytes(
  { cut, request }: Sent,
  clearedToolUseIds: ReadonlySet<string> | undefined,
): Cut | "fits" | undefined {
  if (mostJsonBytes(request) <= MAX_REQUEST_BYTES) return "fits";
  const excess = jsonBytes(request) + FRAME_BYTES - MAX_REQUEST_BYTES;
  if (excess <= 0) return "fits";
  // As they are sent: a picture that is left out anyway would seem to free what it does not.
  return cutOldest(cut, excess, (entries) => jsonBytes(messagesToSummarise(entries, clearedToolUseIds)));
}

function roomForAnswer(windowTokens: number, { request }: Sent): number {
  return Math.min(request.max_tokens ?? 0, Math.floor(windowTokens * ANSWER_SHARE));
}

function without(excessTokens: number, countedTokens: number, sent: Sent): Cut | undefined {
  return cutOldest(sent.cut, excessTokens / providerRatio(countedTokens, sent), inTokens(sent.countTokens));
}

/**
 * How many tokens the provider counts for one of ours: another vocabulary would drop far more, or less, than
 * is too much. Some providers add the output to their figure, so a small one says too little to go by.
 */
function providerRatio(countedTokens: number, { request, countTokens }: Sent): number {
  if (countedTokens < SURE_FIGURE_OUTPUTS * (request.max_tokens ?? 0)) return 1;
  return countedTokens / Math.max(1, measureRequest(request, countTokens));
}
