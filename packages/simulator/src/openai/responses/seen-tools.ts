import { asList, isRecord, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import { CUSTOM_TOOL_SCHEMA } from "../chat/chat-conversation.ts";

/** Ways in which the model calls a tool. They decide the type of the output item. */
export type CallForm = "function" | "custom" | "local_shell" | "shell" | "apply_patch" | "computer";

/** A tool that the client runs, under the name that a behavior sees. */
export interface CallableTool {
  readonly form: CallForm;
  /** Name in `function_call` and `custom_tool_call`. It differs from the seen name inside a namespace. */
  readonly name: string;
  readonly namespace?: string;
}

export interface SeenTools {
  /** Tools with `name`, `description` and `input_schema`, as in the Messages API. */
  readonly seen: readonly JsonRecord[];
  /** The tools that the client runs, by seen name. */
  readonly callable: ReadonlyMap<string, CallableTool>;
}

/** Separator between a namespace and a name, as the model's own notation `functions.name` has it. */
const NAMESPACE_SEPARATOR = ".";

const ANY_OBJECT: JsonRecord = { type: "object", properties: {} };

/** Schemas of the tools that OpenAI defines and the client runs: the fields of the calls. */
const BUILT_IN: Readonly<Record<string, { readonly form: CallForm; readonly schema: JsonRecord }>> = {
  local_shell: {
    form: "local_shell",
    schema: {
      type: "object",
      properties: {
        command: { type: "array", items: { type: "string" } },
        working_directory: { type: "string" },
        timeout_ms: { type: "integer" },
      },
      required: ["command"],
    },
  },
  shell: {
    form: "shell",
    schema: {
      type: "object",
      properties: {
        commands: { type: "array", items: { type: "string" } },
        timeout_ms: { type: "integer" },
        max_output_length: { type: "integer" },
      },
      required: ["commands"],
    },
  },
  apply_patch: {
    form: "apply_patch",
    schema: {
      type: "object",
      properties: {
        operation: {
          type: "object",
          properties: {
            type: { enum: ["create_file", "update_file", "delete_file"] },
            path: { type: "string" },
            diff: { type: "string" },
          },
          required: ["type", "path"],
        },
      },
      required: ["operation"],
    },
  },
};

/** Tools that a behavior must not call without a script: it would have to invent screen positions. */
const COMPUTER_TOOLS: ReadonlySet<string> = new Set(["computer", "computer_use_preview", "computer_use"]);

/** Reads the tools of a request, and those that input items add. */
export function seenTools(tools: unknown, items: readonly JsonRecord[]): SeenTools {
  const seen: JsonRecord[] = [];
  const callable = new Map<string, CallableTool>();
  const add = (tool: CallableTool, description: unknown, schema: unknown): void => {
    const { namespace, name } = tool;
    const shown = namespace === undefined ? name : `${namespace}${NAMESPACE_SEPARATOR}${name}`;
    seen.push({
      name: shown,
      ...(typeof description === "string" ? { description } : {}),
      input_schema: isRecord(schema) ? schema : ANY_OBJECT,
    });
    callable.set(shown, tool);
  };
  const read = (tool: unknown, namespace?: string): void => {
    const type = stringField(tool, "type");
    if (!isRecord(tool) || type === undefined) return;
    const { name } = tool;
    const place = namespace === undefined ? {} : { namespace };
    if (type === "function" && typeof name === "string")
      add({ form: "function", name, ...place }, tool.description, tool.parameters);
    else if (type === "custom" && typeof name === "string")
      add({ form: "custom", name, ...place }, tool.description, CUSTOM_TOOL_SCHEMA);
    else if (type === "namespace" && typeof name === "string")
      for (const inner of asList(tool.tools)) read(inner, name);
    else {
      const builtIn = BUILT_IN[type];
      if (builtIn !== undefined) add({ form: builtIn.form, name: type }, undefined, builtIn.schema);
      else seen.push({ type, name: type });
      if (COMPUTER_TOOLS.has(type)) callable.set(type, { form: "computer", name: type });
    }
  };
  const added = items.filter(({ type }) => type === "additional_tools" || type === "tool_search_output");
  for (const tool of [tools, ...added.map((item) => item.tools)].flatMap(asList)) read(tool);
  return { seen, callable };
}

/**
 * Finds the tool of a call. A script may name a tool of a namespace without its namespace. Unknown names count
 * as functions, because a test may play a model that invents a tool.
 */
export function toolOf(name: string, { callable }: SeenTools): CallableTool {
  const exact = callable.get(name);
  if (exact !== undefined) return exact;
  const inner = [...callable.values()].find((tool) => tool.namespace !== undefined && tool.name === name);
  return inner ?? { form: "function", name };
}
