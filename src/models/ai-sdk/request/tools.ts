import { field, isRecord, type JsonRecord } from "../../../conversation/untrusted.ts";
import type { ToolChoice, ToolDefinition } from "../../port.ts";
import { withOptions } from "../provider-options.ts";
import type { AiSdk } from "../sdk.ts";
import { markOptions } from "./marks.ts";
import type { Mapping } from "./prompt.ts";

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "name",
  "description",
  "input_schema",
  "cache_control",
  "strict",
  "input_examples",
]);

/** Tools without a way to run them: the SDK hands the calls out and makes no second step. */
export function toolSet(
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
    if (!KNOWN_FIELDS.has(name)) mapping.changes.notSupported(`${name} of a tool`);
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

export function toolChoiceOf(choice: ToolChoice): unknown {
  switch (choice.type) {
    case "tool":
      return { type: "tool", toolName: choice.name };
    case "any":
      return "required";
    default:
      return choice.type;
  }
}

/** Whether several calls at once are forbidden, as an option of the provider. */
export function parallelOptions(choice: ToolChoice | undefined, mapping: Mapping): JsonRecord | undefined {
  if (field(choice, "disable_parallel_tool_use") !== true) return undefined;
  const { flavour, namespace } = mapping.dialect;
  if (flavour === "anthropic") return { anthropic: { disableParallelToolUse: true } };
  if (flavour === "openai-chat" || flavour === "openai-responses") {
    return { [namespace]: { parallelToolCalls: false } };
  }
  mapping.changes.notSupported("disable_parallel_tool_use");
  return undefined;
}
