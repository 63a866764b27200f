import { field, isRecord, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { ModelRequest, RequestChange, ToolChoice, ToolDefinition } from "@longhaul/core/models";
import type { Dialect } from "./dialect.ts";
import { ChangeLog, type Mapping, markOptions, mergeOptions, withOptions } from "./mapping.ts";
import { promptMessages, systemMessages } from "./prompt-messages.ts";
import { type AiSdk, isVersionSeven } from "./sdk.ts";

export interface MappedCall {
  /** Options of `streamText`, without the model and the signal. */
  readonly options: JsonRecord;
  readonly changes: readonly RequestChange[];
}

interface CallSettings {
  readonly images: boolean;
  /** The user's own options of the provider; they win. */
  readonly providerOptions?: JsonRecord | undefined;
}

/** A request in the canonical form as one call of the AI SDK. The request is only read. */
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
    // Ours come from the conversation itself; without this the SDK warns or refuses.
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

function limits(request: ModelRequest, { flavour }: Dialect): JsonRecord {
  const limits: Record<string, unknown> = {};
  if (request.max_tokens !== undefined) {
    const inside = flavour === "anthropic" ? thinkingBudget(request) : 0;
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

/** Tools without a way to run them: the SDK hands the calls out and makes no second step. */
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

/** Fields of a request that are mapped, or that mean nothing here (`model` is the port's own). */
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
 * The conversation is ours and may be rewritten: nothing is kept at OpenAI, so that no request refers to
 * items that are no longer what they were. Encrypted reasoning comes back for the next request instead.
 */
function statelessOptions({ dialect }: Mapping): JsonRecord | undefined {
  return dialect.flavour === "openai-responses" ? { [dialect.namespace]: { store: false } } : undefined;
}

function outputOptions(request: ModelRequest, { dialect, changes }: Mapping): JsonRecord | undefined {
  for (const name of Object.keys(request.output_config ?? {})) {
    if (name === "effort" || (name === "task_budget" && dialect.flavour === "anthropic")) continue;
    changes.notSupported(`output_config.${name}`);
  }
  const budget = field(request.output_config, "task_budget");
  return isRecord(budget) && dialect.flavour === "anthropic"
    ? { anthropic: { taskBudget: budget } }
    : undefined;
}

/** Forbids several calls at once. */
function parallelOptions(choice: ToolChoice | undefined, mapping: Mapping): JsonRecord | undefined {
  if (field(choice, "disable_parallel_tool_use") !== true) return undefined;
  const { flavour, namespace } = mapping.dialect;
  if (flavour === "anthropic") return { anthropic: { disableParallelToolUse: true } };
  if (flavour === "openai-chat" || flavour === "openai-responses") {
    return { [namespace]: { parallelToolCalls: false } };
  }
  mapping.changes.notSupported("disable_parallel_tool_use");
  return undefined;
}

function contextOptions(request: ModelRequest, { dialect, changes }: Mapping): JsonRecord | undefined {
  const edits = request.context_management?.edits ?? [];
  const takesEdits = dialect.flavour === "anthropic";
  if (edits.length > 0 && !takesEdits) changes.notSupported("context_management");
  // Only version 7 has it, and which one is at hand is not known before the first call: never promised, never sent.
  if (request.compaction !== undefined) changes.notSupported("compaction");
  if (edits.length === 0 || !takesEdits) return undefined;
  return { anthropic: { contextManagement: { edits: edits.map(withCamelFields) } } };
}

function userOptions(request: ModelRequest, { dialect, changes }: Mapping): JsonRecord | undefined {
  const metadata = field(request, "metadata");
  if (metadata === undefined) return undefined;
  const userId = stringField(metadata, "user_id");
  if (dialect.flavour === "anthropic" && userId !== undefined) return { anthropic: { metadata: { userId } } };
  changes.notSupported("metadata");
  return undefined;
}

/** Only the names of an edit's own fields: values are the provider's words. */
const withCamelFields = (edit: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(edit).map(([name, value]) => [camelCase(name), value]));

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** How much the model may think, as options of the provider. */
function thinkingOptions(request: ModelRequest, mapping: Mapping): JsonRecord | undefined {
  const effort = request.output_config?.effort;
  switch (mapping.dialect.flavour) {
    case "anthropic":
      return anthropicThinking(request, effort);
    case "google":
      return googleThinking(request, effort, mapping);
    default:
      return effortOnly(request, effort, mapping);
  }
}

/** The SDK adds the budget to the limit of the output; the Messages API has it inside. */
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

/** Gemini 3 has levels, the models before it a budget; -1 lets the model choose. */
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
  // A model that thinks by itself needs no `adaptive`.
  const mode = request.thinking?.type;
  if (mode !== undefined && mode !== "adaptive") changes.notSupported(`thinking of type ${mode}`);
  return effort === undefined ? undefined : { [dialect.namespace]: { reasoningEffort: effort } };
}
