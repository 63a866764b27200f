import { field, isRecord, type JsonRecord } from "../../conversation/untrusted.ts";
import type { ModelRequest, RequestChange, ToolChoice, ToolDefinition } from "../port.ts";
import type { Dialect } from "./dialect.ts";
import { ChangeLog, type Mapping, markOptions, mergeOptions, withOptions } from "./mapping.ts";
import { promptMessages, systemMessages } from "./prompt-messages.ts";
import { providerOptionsOf, thinkingBudget } from "./provider-options.ts";
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
