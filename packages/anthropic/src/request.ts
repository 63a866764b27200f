import type { ApiVersion } from "@longhaul/core/internal/messages";
import { field, listField, stringField, stringListField } from "@longhaul/core/internal/messages";
import { claudeFeatures, findModel } from "@longhaul/core/measure";
import type { ModelRequest, RequestChange } from "@longhaul/core/models";
import type { AnthropicParams } from "./client.ts";

interface WireOptions {
  readonly model: string;
  readonly betas?: readonly string[];
  readonly apiVersion?: ApiVersion | undefined;
}

interface WireCall {
  readonly params: AnthropicParams;
  readonly changes: readonly RequestChange[];
}

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

/** Fields that the token counting endpoint accepts. It refuses all others. */
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

export function countCall(request: ModelRequest, options: WireOptions): AnthropicParams {
  const counted = Object.entries(request).filter(([name]) => COUNTED_FIELDS.includes(name));
  // The field `compaction` does not change the token count. An edit with a threshold stays, because it can
  // remove content.
  const { compaction: _, ...withoutCompaction } = request;
  return {
    ...Object.fromEntries(counted),
    ...betasField(withoutCompaction, options),
    model: options.model,
    messages: request.messages,
  } as AnthropicParams;
}

const SAMPLING_FIELDS = ["temperature", "top_p", "top_k"] as const;

/**
 * Removes sampling fields. The newer API version has no such fields, and a client does not reveal its
 * version. The fields are sent only if the caller names the older version and the model accepts the fields.
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

/**
 * Betas that a request may need. The key is the name of a beta, and the value returns true if a request needs
 * it. A request sends only the betas that it needs, because the API refuses unknown names.
 */
const NEEDS: Readonly<Record<string, (request: ModelRequest) => boolean>> = {
  "context-management-2025-06-27": hasContextEdit,
  "compact-2026-01-12": needsThresholdCompaction,
  "compact-2026-09-04": needsCompactionOnDemand,
  "thinking-binding-controls-2026-08-01": ({ thinking }) => isSet(field(thinking, "block_binding")),
  "thinking-display-updates-2026-08-18": ({ thinking }) => field(thinking, "display") === "updates",
  "task-budgets-2026-03-13": ({ output_config }) => isSet(field(output_config, "task_budget")),
  "mid-conversation-tool-changes-2026-07-01": (request) =>
    hasSystemBlock(request, ["tool_addition", "tool_removal"]),
  "mid-conversation-system-clear-at-2026-08-21": (request) => hasSystemField(request, "clear_at"),
  "mid-conversation-output-config-2026-07-01": (request) => hasSystemField(request, "output_config"),
  "message-threads-2026-08-12": (request) => isSet(field(request, "thread")),
};

/** Lists the caller's betas first, then those that the request needs, without duplicates. */
function betasField(
  request: ModelRequest,
  { betas = [] }: WireOptions,
): { readonly betas?: readonly string[] } {
  const needed = Object.keys(NEEDS).filter((beta) => NEEDS[beta]?.(request));
  const all = [...new Set([...betas, ...stringListField(request, "betas"), ...needed])];
  return all.length === 0 ? {} : { betas: all };
}

export const isCompactEdit = ({ type }: { readonly type: string }): boolean => type === "compact_20260112";

function hasContextEdit({ context_management }: ModelRequest): boolean {
  return context_management?.edits.some((edit) => !isCompactEdit(edit)) ?? false;
}

/**
 * Returns true if the request needs compaction at a threshold. If the request has an edit for compaction, the
 * result is true. If it has the field `compaction` instead, the result is false, because a request can use
 * only one type of compaction. Otherwise the result is true if the request has summary blocks and none of
 * them is signed.
 */
function needsThresholdCompaction(request: ModelRequest): boolean {
  if (request.context_management?.edits.some(isCompactEdit)) return true;
  const blocks = compactionBlocks(request);
  return request.compaction === undefined && blocks.length > 0 && !blocks.some(isSigned);
}

function needsCompactionOnDemand(request: ModelRequest): boolean {
  if (request.compaction !== undefined) return true;
  return !needsThresholdCompaction(request) && compactionBlocks(request).length > 0;
}

function compactionBlocks({ messages }: ModelRequest): readonly unknown[] {
  return messages.flatMap((message) =>
    listField(message, "content").filter((block) => stringField(block, "type") === "compaction"),
  );
}

const isSigned = (block: unknown): boolean => isSet(field(block, "signature"));
const isSystem = (message: unknown): boolean => field(message, "role") === "system";
const isSet = (value: unknown): boolean => value !== undefined && value !== null;

function hasSystemBlock({ messages }: ModelRequest, types: readonly string[]): boolean {
  return messages.some(
    (message) =>
      isSystem(message) &&
      listField(message, "content").some((block) => types.includes(stringField(block, "type") ?? "")),
  );
}

function hasSystemField({ messages }: ModelRequest, name: string): boolean {
  return messages.some((message) => isSystem(message) && isSet(field(message, name)));
}
