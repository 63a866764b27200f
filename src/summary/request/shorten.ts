import { jsonBytes, mostJsonBytes } from "../../conversation/check/json-bytes.ts";
import { MAX_REQUEST_BYTES } from "../../conversation/check/limits.ts";
import { inputTokens } from "../../conversation/reported-usage.ts";
import type { ModelError } from "../../models/model-error.ts";
import { leastOutputTokens } from "../../models/output-limit.ts";
import type { ModelReply, ModelRequest } from "../../models/port.ts";
import { type CountText, measureRequest } from "../../tokens/measure.ts";
import { type Cut, cutOldest, inTokens } from "./cut.ts";
import { messagesToSummarise } from "./messages.ts";

/** The digest of what did not fit has at most this many tokens, and at most a third of what it stands for. */
const MOST_DIGEST_TOKENS = 3_000;
/** Below this a digest could not even name the work. */
const LEAST_DIGEST_TOKENS = 600;
const DIGEST_SHARE = 1 / 3;

/** Tokens for the digest of a part of this size. */
export const digestTokens = (droppedTokens: number): number =>
  Math.floor(Math.max(LEAST_DIGEST_TOKENS, Math.min(MOST_DIGEST_TOKENS, droppedTokens * DIGEST_SHARE)));

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
  /** Output that a larger window would have given it. */
  readonly wantedTokens: number;
  readonly countTokens: CountText;
}

/**
 * Less of the conversation after it was too much: as much goes as the error states, and what the digest and the least
 * answer need. Undefined where nothing more can go.
 */
export function shorterAfter({ failure }: ModelError, sent: Sent): Cut | undefined {
  if (failure.kind !== "too-long") return cutOldest(sent.cut, undefined, inTokens(sent.countTokens));
  const { tokens, limit, outputTokens = 0, isLowerBound } = failure;
  if (tokens === undefined || limit === undefined || isLowerBound) {
    return cutOldest(sent.cut, undefined, inTokens(sent.countTokens));
  }
  const promptTokens = tokens - outputTokens;
  const answer = Math.min(sent.wantedTokens, leastOutputTokens(limit));
  return without(Math.max(1, promptTokens + answer - limit), promptTokens, sent);
}

/**
 * Less of the conversation where it fitted but left no room: the summary broke off at the end of the window, or at the
 * output that fitted beside the prompt. Undefined where that did not happen or nothing more can go.
 */
export function shorterForRoom({ stopReason, usage }: ModelReply, sent: Sent): Cut | undefined {
  const isBounded = (sent.request.max_tokens ?? sent.wantedTokens) < sent.wantedTokens;
  const isFull = stopReason === "model_context_window_exceeded" || (stopReason === "max_tokens" && isBounded);
  if (!isFull) return undefined;
  const tokens = inputTokens(usage);
  const wanted = roomForAnswer(tokens + usage.output_tokens, sent) - usage.output_tokens;
  return wanted <= 0 ? undefined : without(wanted, tokens, sent);
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

function roomForAnswer(windowTokens: number, { wantedTokens }: Sent): number {
  return Math.min(wantedTokens, Math.floor(windowTokens * ANSWER_SHARE));
}

/** Without so much of the conversation that the excess is gone although a digest takes the place of what was cut. */
function without(excessTokens: number, countedTokens: number, sent: Sent): Cut | undefined {
  const excess = excessTokens / providerRatio(countedTokens, sent);
  // Of a cut half again as large as the excess, the digest has the third.
  const dropped = excess + digestTokens(excess / (1 - DIGEST_SHARE));
  return cutOldest(sent.cut, dropped, inTokens(sent.countTokens));
}

/**
 * How many tokens the provider counts for one of ours: another vocabulary would drop far more, or less, than
 * is too much. Some providers add the output to their figure, so a small one says too little to go by.
 */
function providerRatio(countedTokens: number, { request, wantedTokens, countTokens }: Sent): number {
  if (countedTokens < SURE_FIGURE_OUTPUTS * wantedTokens) return 1;
  return countedTokens / Math.max(1, measureRequest(request, countTokens));
}
