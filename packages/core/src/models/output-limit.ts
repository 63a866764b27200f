import { estimateO200k } from "../measure/tokens/estimate/o200k.ts";
import { type CountText, measureRequest } from "../measure/tokens/measure.ts";
import { findModel } from "../measure/window/models.ts";
import { field } from "../messages/untrusted.ts";
import { ModelError } from "./model-error.ts";
import type { Model, ModelRequest } from "./port.ts";

/** Minimum output in a large window. A smaller limit would cut off a summary with its analysis. */
const MIN_OUTPUT_TOKENS = 4_000;
/** Minimum output as a share of the window, for small windows. */
const MIN_OUTPUT_SHARE = 1 / 16;

/** The host's value for a model's context window. Undefined means the value from the model table. */
export type WindowOf = (model: Model) => number | undefined;

/**
 * Safety factor for the prompt size. The size is an estimate, and it is off by a few percent even after the
 * first reported usage.
 */
const COUNT_MARGIN = 1.05;

/** The model's window and the way its provider counts tokens. */
export interface OutputRoomOptions {
  readonly windowOf?: WindowOf | undefined;
  readonly countTokens?: CountText | undefined;
  /** Size of this prompt, if a better figure than the estimate is known. */
  readonly promptTokens?: number | undefined;
}

/** Limits the wanted output to the model's maximum, because most providers refuse a request for more. */
export function outputTokensFor(model: Model, wantedTokens: number): number {
  return Math.min(wantedTokens, findModel(model.name).maxOutputTokens);
}

/** Returns the smallest output that makes a call worthwhile in a window of this size. */
export const minOutputTokens = (windowTokens: number): number =>
  Math.max(1, Math.min(MIN_OUTPUT_TOKENS, Math.floor(windowTokens * MIN_OUTPUT_SHARE)));

/** Returns true if the window has enough room for this prompt, the thinking and an answer. */
export const hasOutputRoom = (model: Model, request: ModelRequest, options: OutputRoomOptions): boolean =>
  outputRoom(model, request, options) >=
  minOutputTokens(windowTokensOf(model, options)) + thinkingBudget(request);

/**
 * Returns the output tokens that fit into the window together with this prompt, by our count. Negative if the
 * prompt alone is too long.
 */
function outputRoom(model: Model, request: ModelRequest, options: OutputRoomOptions): number {
  const { countTokens = estimateO200k, promptTokens } = options;
  const tokens = promptTokens ?? measureRequest(request, countTokens);
  return windowTokensOf(model, options) - Math.ceil(tokens * COUNT_MARGIN);
}

/**
 * Lowers `max_tokens` to the tokens that the prompt leaves free in the window, but not below the minimum. If
 * the prompt alone is too long, the request does not change. In that case the provider reports the excess, or
 * accepts the prompt because its window is larger than we know. The cached prefix does not depend on
 * `max_tokens`.
 */
export function withFittingOutput(
  model: Model,
  request: ModelRequest,
  options: OutputRoomOptions,
): ModelRequest {
  const { maxOutputTokens } = findModel(model.name);
  const wanted = request.max_tokens ?? maxOutputTokens;
  const least = minOutputTokens(windowTokensOf(model, options)) + thinkingBudget(request);
  if (wanted <= least) return request;
  const room = outputRoom(model, request, options);
  return room <= 0 || wanted <= room ? request : { ...request, max_tokens: Math.max(least, room) };
}

/**
 * If the provider refused the sum of prompt and output, lowers `max_tokens` according to the provider's
 * figures. Returns undefined if less output does not help.
 */
export function withLessOutput(error: unknown, request: ModelRequest): ModelRequest | undefined {
  if (!(error instanceof ModelError) || error.failure.kind !== "too-long") return undefined;
  const { tokens, limit, outputTokens, isLowerBound } = error.failure;
  if (tokens === undefined || limit === undefined || outputTokens === undefined) return undefined;
  const least = minOutputTokens(limit) + thinkingBudget(request);
  const room = isLowerBound ? least : limit - (tokens - outputTokens);
  return room < least || room >= outputTokens ? undefined : { ...request, max_tokens: room };
}

const windowTokensOf = (model: Model, { windowOf }: OutputRoomOptions): number =>
  windowOf?.(model) ?? findModel(model.name).windowTokens;

/** Returns the thinking budget. It is part of the output and must be smaller than `max_tokens`. */
export function thinkingBudget({ thinking }: Pick<ModelRequest, "thinking">): number {
  const budget = field(thinking, "budget_tokens");
  return typeof budget === "number" ? budget : 0;
}
