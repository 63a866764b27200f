import { field, isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { TokenFigures } from "../answer/model-answers.ts";
import type { OpenAiModel } from "../request.ts";

export type ResponseStatus = "completed" | "incomplete" | "failed" | "in_progress" | "queued" | "cancelled";

/** A response of `POST /v1/responses`, as the API returns and stores it. */
export interface ResponseObject extends JsonRecord {
  readonly id: string;
  readonly object: "response";
  readonly status: ResponseStatus;
  readonly output: readonly JsonRecord[];
}

export interface ResponseParts {
  readonly id: string;
  readonly body: JsonRecord;
  readonly model: OpenAiModel;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly conversationId: string | undefined;
  readonly outcome: ResponseOutcome;
  readonly usage: JsonRecord | null;
}

/** What the model wrote, and how it ended. */
export interface ResponseOutcome {
  readonly status: ResponseStatus;
  readonly output: readonly JsonRecord[];
  readonly incompleteReason?: "max_output_tokens" | "content_filter";
  readonly error?: { readonly code: string; readonly message: string };
}

/** Fields of a response while the model writes it. */
export const NOT_YET: JsonRecord & { readonly status: ResponseStatus } = {
  status: "in_progress",
  completed_at: null,
  error: null,
  incomplete_details: null,
  usage: null,
};

/** Effort that a reasoning model uses if the request names none. */
const DEFAULT_EFFORT = "medium";

/** Builds a response. It repeats the settings of its request, with the defaults of the API for the others. */
export function responseObject({
  id,
  body,
  model,
  createdAt,
  conversationId,
  outcome,
  usage,
}: ResponseParts): ResponseObject {
  const { status, output, incompleteReason, error } = outcome;
  const given = (name: string, otherwise: unknown): unknown => body[name] ?? otherwise;
  return {
    id,
    object: "response",
    created_at: createdAt,
    status,
    background: given("background", false),
    completed_at: status === "completed" ? createdAt : null,
    ...(conversationId === undefined ? {} : { conversation: { id: conversationId } }),
    error: error ?? null,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    instructions: given("instructions", null),
    max_output_tokens: given("max_output_tokens", null),
    max_tool_calls: given("max_tool_calls", null),
    model: String(body.model),
    output,
    parallel_tool_calls: given("parallel_tool_calls", true),
    previous_response_id: given("previous_response_id", null),
    prompt_cache_key: given("prompt_cache_key", null),
    prompt_cache_retention: given("prompt_cache_retention", null),
    ...(body.prompt_cache_options == null ? {} : { prompt_cache_options: body.prompt_cache_options }),
    reasoning: reasoningOf(body, model),
    safety_identifier: given("safety_identifier", null),
    service_tier: serviceTier(body.service_tier),
    store: given("store", true),
    temperature: given("temperature", 1),
    text: textConfig(body.text),
    tool_choice: given("tool_choice", "auto"),
    tools: given("tools", []),
    top_logprobs: given("top_logprobs", 0),
    top_p: given("top_p", 1),
    truncation: given("truncation", "disabled"),
    usage,
    user: given("user", null),
    metadata: given("metadata", {}),
  };
}

function reasoningOf({ reasoning }: JsonRecord, { isReasoning }: OpenAiModel): JsonRecord {
  const effort = field(reasoning, "effort") ?? (isReasoning ? DEFAULT_EFFORT : null);
  const summary = field(reasoning, "summary") ?? field(reasoning, "generate_summary") ?? null;
  return { ...(isRecord(reasoning) ? reasoning : {}), effort, summary };
}

/** The tier that answered. A request for `auto` gets the default tier. */
const serviceTier = (asked: unknown): unknown => (asked == null || asked === "auto" ? "default" : asked);

function textConfig(text: unknown): JsonRecord {
  const config = isRecord(text) ? text : {};
  return { ...config, format: config.format ?? { type: "text" }, verbosity: config.verbosity ?? "medium" };
}

export function responseUsage(figures: TokenFigures): JsonRecord {
  const { inputTokens, cachedTokens, writtenTokens, outputTokens, reasoningTokens } = figures;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: writtenTokens ?? 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
