import { field, isRecord, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { ModelRequest, RequestChange, ToolChoice, ToolDefinition } from "@longhaul/core/models";
import type { Dialect } from "./dialect.ts";
import { ChangeLog, type Mapping, markOptions, mergeOptions, withOptions } from "./mapping.ts";
import { promptMessages, systemMessages } from "./prompt-messages.ts";
import { type AiSdk, isVersionSeven } from "./sdk.ts";

export interface MappedCall {
  /** Options for `streamText`, without the model and the signal. */
  readonly options: JsonRecord;
  readonly changes: readonly RequestChange[];
}

interface CallSettings {
  readonly images: boolean;
  /** The user's provider options. They override those of the request. */
  readonly providerOptions?: JsonRecord | undefined;
}

/** Converts a canonical request into a call of the AI SDK. Does not change the request. */
export function mapCall(
  request: ModelRequest,
  dialect: Dialect,
  sdk: AiSdk,
  settings: CallSettings,
): MappedCall {
  const changes = new ChangeLog();
  const mapping = { dialect, changes, images: settings.images, isVersionSeven: isVersionSeven(sdk) };
  const system = systemMessages(request.system, mapping);
  const tools = toolSet(request.tools, (schema) => sdk.jsonSchema(schema), mapping);
  const providerOptions = mergeOptions(providerOptionsOf(request, mapping), settings.providerOptions);
  const options = {
    ...(system.length === 0 ? {} : { [mapping.isVersionSeven ? "instructions" : "system"]: system }),
    messages: promptMessages(request.messages, system.length > 0, mapping),
    // Our system messages come from the conversation itself. Without this option the SDK warns or refuses.
    allowSystemInMessages: true,
    ...(tools === undefined ? {} : { tools }),
    ...(request.tool_choice === undefined ? {} : { toolChoice: toolChoiceOf(request.tool_choice) }),
    ...limits(request, dialect),
    ...withOptions(providerOptions),
  };
  return { options, changes: changes.list() };
}

const SAMPLING: Readonly<Record<string, string>> = {
  temperature: "temperature",
  top_p: "topP",
  top_k: "topK",
};

function limits(request: ModelRequest, { flavor }: Dialect): JsonRecord {
  const limits: Record<string, unknown> = {};
  if (request.max_tokens !== undefined) {
    const inside = flavor === "anthropic" ? thinkingBudget(request) : 0;
    limits.maxOutputTokens = Math.max(1, request.max_tokens - inside);
  }
  if (request.stop_sequences !== undefined) limits.stopSequences = [...request.stop_sequences];
  for (const [name, option] of Object.entries(SAMPLING)) {
    const value = field(request, name);
    if (typeof value === "number") limits[option] = value;
  }
  return limits;
}

const TOOL_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "name",
  "description",
  "input_schema",
  "cache_control",
  "strict",
  "input_examples",
]);

/**
 * Defines tools without an `execute` function, so that the SDK returns the tool calls and does not run a
 * second step.
 */
function toolSet(
  tools: readonly ToolDefinition[] | undefined,
  jsonSchema: AiSdk["jsonSchema"],
  mapping: Mapping,
): JsonRecord | undefined {
  const entries = (tools ?? []).flatMap((tool): readonly (readonly [string, JsonRecord])[] => {
    if (!isRecord(tool.input_schema)) {
      mapping.changes.notSupported(`the provider's own tool ${tool.name}`);
      return [];
    }
    return [[tool.name, toolOf(tool, jsonSchema, mapping)]];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function toolOf(tool: ToolDefinition, jsonSchema: AiSdk["jsonSchema"], mapping: Mapping): JsonRecord {
  for (const name of Object.keys(tool)) {
    if (!TOOL_FIELDS.has(name)) mapping.changes.notSupported(`${name} of a tool`);
  }
  const examples = field(tool, "input_examples");
  const strict = field(tool, "strict");
  return {
    ...(tool.description === undefined ? {} : { description: tool.description }),
    inputSchema: jsonSchema(tool.input_schema),
    ...(typeof strict === "boolean" ? { strict } : {}),
    ...(Array.isArray(examples) ? { inputExamples: examples.map((input: unknown) => ({ input })) } : {}),
    ...withOptions(markOptions(tool, mapping)),
  };
}

function toolChoiceOf(choice: ToolChoice): unknown {
  switch (choice.type) {
    case "tool":
      return { type: "tool", toolName: choice.name };
    case "any":
      return "required";
    default:
      return choice.type;
  }
}

/**
 * Known fields of a request. Each field is mapped, or has no meaning here. For example, the port sets
 * `model`.
 */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "stream",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "max_tokens",
  "stop_sequences",
  "temperature",
  "top_p",
  "top_k",
  "thinking",
  "output_config",
  "cache_control",
  "cache_edits",
  "context_management",
  "compaction",
  "metadata",
]);

function providerOptionsOf(request: ModelRequest, mapping: Mapping): JsonRecord | undefined {
  for (const [name, value] of Object.entries(request)) {
    if (!KNOWN_FIELDS.has(name) && value !== undefined) mapping.changes.notSupported(name);
  }
  if ((request.cache_edits?.length ?? 0) > 0) mapping.changes.notSupported("cache_edits");
  return mergeOptions(
    statelessOptions(mapping),
    thinkingOptions(request, mapping),
    outputOptions(request, mapping),
    parallelOptions(request.tool_choice, mapping),
    markOptions(request, mapping),
    contextOptions(request, mapping),
    userOptions(request, mapping),
  );
}

/**
 * Asks OpenAI to store nothing. We may rewrite the conversation, and a request must not refer to outdated
 * items. The next request sends the encrypted reasoning back instead.
 */
function statelessOptions({ dialect }: Mapping): JsonRecord | undefined {
  return dialect.flavor === "openai-responses" ? { [dialect.namespace]: { store: false } } : undefined;
}

function outputOptions(request: ModelRequest, { dialect, changes }: Mapping): JsonRecord | undefined {
  for (const name of Object.keys(request.output_config ?? {})) {
    if (name === "effort" || (name === "task_budget" && dialect.flavor === "anthropic")) continue;
    changes.notSupported(`output_config.${name}`);
  }
  const budget = field(request.output_config, "task_budget");
  return isRecord(budget) && dialect.flavor === "anthropic"
    ? { anthropic: { taskBudget: budget } }
    : undefined;
}

/** Forbids parallel tool calls. */
function parallelOptions(choice: ToolChoice | undefined, mapping: Mapping): JsonRecord | undefined {
  if (field(choice, "disable_parallel_tool_use") !== true) return undefined;
  const { flavor, namespace } = mapping.dialect;
  if (flavor === "anthropic") return { anthropic: { disableParallelToolUse: true } };
  if (flavor === "openai-chat" || flavor === "openai-responses") {
    return { [namespace]: { parallelToolCalls: false } };
  }
  mapping.changes.notSupported("disable_parallel_tool_use");
  return undefined;
}

function contextOptions(request: ModelRequest, { dialect, changes }: Mapping): JsonRecord | undefined {
  const edits = request.context_management?.edits ?? [];
  const takesEdits = dialect.flavor === "anthropic";
  if (edits.length > 0 && !takesEdits) changes.notSupported("context_management");
  // Only version 7 of the SDK supports `compaction`, and the version is unknown before the first call. So the
  // adapter never announces this capability and never sends the field.
  if (request.compaction !== undefined) changes.notSupported("compaction");
  if (edits.length === 0 || !takesEdits) return undefined;
  return { anthropic: { contextManagement: { edits: edits.map(withCamelFields) } } };
}

function userOptions(request: ModelRequest, { dialect, changes }: Mapping): JsonRecord | undefined {
  const metadata = field(request, "metadata");
  if (metadata === undefined) return undefined;
  const userId = stringField(metadata, "user_id");
  if (dialect.flavor === "anthropic" && userId !== undefined) return { anthropic: { metadata: { userId } } };
  changes.notSupported("metadata");
  return undefined;
}

/** Converts only the names of an edit's fields. The values belong to the provider's API. */
const withCamelFields = (edit: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(edit).map(([name, value]) => [camelCase(name), value]));

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Maps the thinking settings to provider options. */
function thinkingOptions(request: ModelRequest, mapping: Mapping): JsonRecord | undefined {
  const effort = request.output_config?.effort;
  switch (mapping.dialect.flavor) {
    case "anthropic":
      return anthropicThinking(request, effort);
    case "google":
      return googleThinking(request, effort, mapping);
    default:
      return effortOnly(request, effort, mapping);
  }
}

/**
 * Returns the thinking budget. The SDK adds it to the output limit, but the Messages API counts it within the
 * limit.
 */
function thinkingBudget(request: ModelRequest): number {
  const budget = field(request.thinking, "budget_tokens");
  return request.thinking?.type === "enabled" && typeof budget === "number" ? budget : 0;
}

function anthropicThinking(request: ModelRequest, effort: string | undefined): JsonRecord | undefined {
  const { thinking } = request;
  if (thinking === undefined && effort === undefined) return undefined;
  const budget = thinkingBudget(request);
  const display = stringField(thinking, "display");
  const mismatch = stringField(field(thinking, "block_binding"), "prefix_mismatch_behavior");
  const mapped = {
    type: thinking?.type,
    ...(budget > 0 ? { budgetTokens: budget } : {}),
    ...(display === undefined ? {} : { display }),
    ...(mismatch === undefined ? {} : { blockBinding: { prefixMismatchBehavior: mismatch } }),
  };
  return {
    anthropic: {
      ...(thinking === undefined ? {} : { thinking: mapped }),
      ...(effort === undefined ? {} : { effort }),
    },
  };
}

/**
 * Maps thinking for Google. Gemini 3 uses levels and earlier models use a budget. A budget of -1 lets the
 * model choose.
 */
function googleThinking(
  request: ModelRequest,
  effort: string | undefined,
  { dialect, changes }: Mapping,
): JsonRecord | undefined {
  const hasLevels = !/gemini-[12]/.test(dialect.modelId);
  const budget = thinkingBudget(request);
  const config: Record<string, unknown> = {};
  const mode = request.thinking?.type;
  if (mode === "enabled" || mode === "adaptive") {
    config.includeThoughts = true;
    if (!hasLevels) config.thinkingBudget = mode === "enabled" && budget > 0 ? budget : -1;
    else if (budget > 0) changes.notSupported("thinking.budget_tokens");
  } else if (mode === "disabled" && !hasLevels) config.thinkingBudget = 0;
  else if (mode !== undefined) changes.notSupported(`thinking of type ${mode}`);
  if (effort !== undefined) {
    const level = GOOGLE_LEVELS[effort];
    if (hasLevels && level !== undefined) config.thinkingLevel = level;
    else changes.notSupported("output_config.effort");
  }
  return Object.keys(config).length === 0 ? undefined : { google: { thinkingConfig: config } };
}

const GOOGLE_LEVELS: Readonly<Record<string, string>> = {
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};

function effortOnly(
  request: ModelRequest,
  effort: string | undefined,
  { dialect, changes }: Mapping,
): JsonRecord | undefined {
  // A model that thinks by default needs no `adaptive`.
  const mode = request.thinking?.type;
  if (mode !== undefined && mode !== "adaptive") changes.notSupported(`thinking of type ${mode}`);
  return effort === undefined ? undefined : { [dialect.namespace]: { reasoningEffort: effort } };
}
