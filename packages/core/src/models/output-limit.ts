import { type CountText, ESTIMATORS, measureRequest } from "../measure/tokens/measure.ts";
import { findModel } from "../measure/window/models.ts";
import { field } from "../messages/untrusted.ts";
import { ModelError } from "./model-error.ts";
import type { Model, ModelRequest } from "./port.ts";

/** With less output, a summary and the analysis before it would break off. */
const LEAST_OUTPUT_TOKENS = 4_000;
/** Of the window: a small one is not all answer. */
const LEAST_OUTPUT_SHARE = 1 / 16;

/** A model's window as the host states it; undefined leaves it to the table of models. */
export type WindowOf = (model: Model) => number | undefined;

/** The count of a prompt is an estimate; after the first reported usage it is a few percent off. */
const COUNT_MARGIN = 1.05;

/** The model's window, and how its provider counts. */
export interface OutputRoomOptions {
  readonly windowOf?: WindowOf | undefined;
  readonly countTokens?: CountText | undefined;
  /** Size of this prompt, where it is known better than by a count of its texts. */
  readonly promptTokens?: number | undefined;
}

/** As much output as is wanted, or as the model can give: most providers refuse a request for more. */
export function outputTokensFor(model: Model, wantedTokens: number): number {
  return Math.min(wantedTokens, findModel(model.name).maxOutputTokens);
}

/** The smallest output that is worth a call in a window of this size. */
export const leastOutputTokens = (windowTokens: number): number =>
  Math.max(1, Math.min(LEAST_OUTPUT_TOKENS, Math.floor(windowTokens * LEAST_OUTPUT_SHARE)));

/** True if the window leaves enough for an answer beside this prompt and the thinking before it. */
export const hasOutputRoom = (model: Model, request: ModelRequest, options: OutputRoomOptions): boolean =>
  outputRoom(model, request, options) >=
  leastOutputTokens(windowTokensOf(model, options)) + thinkingBudget(request);

/** Output tokens that the window leaves beside this prompt, by our count; negative where the prompt alone is too long. */
function outputRoom(model: Model, request: ModelRequest, options: OutputRoomOptions): number {
  const { countTokens = ESTIMATORS.o200k, promptTokens } = options;
  const tokens = promptTokens ?? measureRequest(request, countTokens);
  return windowTokensOf(model, options) - Math.ceil(tokens * COUNT_MARGIN);
}

/**
 * The request with no more output than fits beside its prompt, and no less than the least. A prompt that is too long by
 * itself is left as it is: the provider states by how much, or has a larger window than we know. The cached prefix does
 * not depend on `max_tokens`.
 */
export function withFittingOutput(
  model: Model,
  request: ModelRequest,
  options: OutputRoomOptions,
): ModelRequest {
  const { maxOutputTokens } = findModel(model.name);
  const wanted = request.max_tokens ?? maxOutputTokens;
  const least = leastOutputTokens(windowTokensOf(model, options)) + thinkingBudget(request);
  if (wanted <= least) return request;
  const room = outputRoom(model, request, options);
  return room <= 0 || wanted <= room ? request : { ...request, max_tokens: Math.max(least, room) };
}

/**
 * The request with the output that fits by the provider's own figures, after it refused prompt and output together.
 * Undefined where less output does not help.
 */
export function withLessOutput(error: unknown, request: ModelRequest): ModelRequest | undefined {
  if (!(error instanceof ModelError) || error.failure.kind !== "too-long") return undefined;
  const { tokens, limit, outputTokens, isLowerBound } = error.failure;
  if (tokens === undefined || limit === undefined || outputTokens === undefined) return undefined;
  const least = leastOutputTokens(limit) + thinkingBudget(request);
  const room = isLowerBound ? least : limit - (tokens - outputTokens);
  return room < least || room >= outputTokens ? undefined : { ...request, max_tokens: room };
}

const windowTokensOf = (model: Model, { windowOf }: OutputRoomOptions): number =>
  windowOf?.(model) ?? findModel(model.name).windowTokens;

/** Thinking is part of the output, and its budget must be smaller than all of it. */
export function thinkingBudget({ thinking }: Pick<ModelRequest, "thinking">): number {
  const budget = field(thinking, "budget_tokens");
  return typeof budget === "number" ? budget : 0;
}
