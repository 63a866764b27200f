import type { ApiVersion } from "../../conversation/message.ts";
import { field } from "../../conversation/untrusted.ts";
import { claudeFeatures } from "../../window/claude-features.ts";
import { findModel } from "../../window/models.ts";
import type { ModelRequest, RequestChange } from "../port.ts";
import { betasFor } from "./betas.ts";
import type { AnthropicParams } from "./client.ts";

export interface WireOptions {
  readonly model: string;
  readonly betas: readonly string[];
  readonly apiVersion: ApiVersion | undefined;
}

export interface WireCall {
  readonly params: AnthropicParams;
  readonly changes: readonly RequestChange[];
}

const SAMPLING_FIELDS = ["temperature", "top_p", "top_k"] as const;

/** Fields that the counting endpoint takes; it refuses all others. */
const COUNTED_FIELDS: readonly string[] = [
  "messages",
  "cache_control",
  "context_management",
  "mcp_servers",
  "output_config",
  "output_format",
  "speed",
  "system",
  "thinking",
  "tool_choice",
  "tools",
  "cache_edits",
];

export function messageCall(request: ModelRequest, options: WireOptions): WireCall {
  const { params, changes } = withoutSampling(request, options);
  return {
    params: {
      ...params,
      ...betasField(request, options),
      model: options.model,
      messages: request.messages,
      max_tokens: request.max_tokens ?? findModel(options.model).maxOutputTokens,
      stream: true,
    } as AnthropicParams,
    changes,
  };
}

export function countCall(request: ModelRequest, options: WireOptions): AnthropicParams {
  const counted = Object.entries(request).filter(([name]) => COUNTED_FIELDS.includes(name));
  return {
    ...Object.fromEntries(counted),
    ...betasField(withoutCompaction(request), options),
    model: options.model,
    messages: request.messages,
  } as AnthropicParams;
}

/** Asking for a summary does not change the count; a threshold edit stays, for what it leaves out. */
function withoutCompaction(request: ModelRequest): ModelRequest {
  const { compaction: _, ...rest } = request;
  return rest;
}

function betasField(request: ModelRequest, options: WireOptions): { readonly betas?: readonly string[] } {
  const betas = betasFor(request, options.betas);
  return betas.length === 0 ? {} : { betas };
}

/**
 * The newer version of the API has no sampling fields, and which one a client speaks cannot be seen from
 * outside. So they are sent only where the caller has named the older version and the model takes them.
 */
function withoutSampling(
  request: ModelRequest,
  { apiVersion, model }: WireOptions,
): { readonly params: object; readonly changes: readonly RequestChange[] } {
  const given = SAMPLING_FIELDS.filter((name) => field(request, name) !== undefined);
  const isTaken = apiVersion === "2023-06-01" && (!/claude/i.test(model) || claudeFeatures(model).sampling);
  if (given.length === 0 || isTaken) return { params: request, changes: [] };
  const params = Object.fromEntries(
    Object.entries(request).filter(([name]) => !given.some((sampling) => sampling === name)),
  );
  return { params, changes: given.map((what) => ({ type: "not-supported", what })) };
}
