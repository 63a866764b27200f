import type { Report } from "../report.ts";
import { itemType } from "../shapes/responses-items.ts";
import { fieldOf, isRecord, isSet, type JsonRecord, listOf, own, quote, textOf } from "../values.ts";
import { checkOutputSchema, checkParameters } from "./json-schema.ts";
import { checkEffort, checkReasoningDefaults, checkStreamOptions } from "./model-settings.ts";

/** Checks tools and settings of a Responses request that depend on each other or on the model. */
export function checkResponsesSettings(body: JsonRecord, report: Report): void {
  checkConversation(body, report);
  for (const [index, tool] of listOf(body, "tools").entries()) checkTool(tool, `tools[${index}]`, report);
  checkToolChoice(body, report);
  checkFormat(body, report);
  checkReasoning(body, report);
  checkStreamOptions(body, report);
}

/** Fields that name a conversation which the request continues. */
const CONTINUATIONS = ["prompt", "previous_response_id", "conversation"];

function checkConversation(body: JsonRecord, report: Report): void {
  if (!["input", ...CONTINUATIONS].some((name) => isSet(body, name)))
    report.add("input-missing", "input", "The request has no input. Add the field input.");
  if (!isSet(body, "model") && !isSet(body, "prompt"))
    report.add("missing-field", "model", "The required field model is missing. Add it.");
  if (isSet(body, "previous_response_id") && isSet(body, "conversation"))
    report.add(
      "two-conversations",
      "previous_response_id",
      "previous_response_id and conversation are both set. Remove one of them.",
    );
  if (own(body, "background") === true && own(body, "store") === false)
    report.add(
      "background-unstored",
      "background",
      "A response in the background must be stored. Set store to true, or background to false.",
    );
}

function checkTool(tool: unknown, path: string, report: Report): void {
  const type = textOf(tool, "type");
  if (type === "function") {
    const strict = fieldOf(tool, "strict") === true;
    checkParameters(fieldOf(tool, "parameters"), { path: `${path}.parameters`, strict, report });
  }
  if (type === "namespace") {
    for (const [index, inner] of listOf(tool, "tools").entries())
      if (textOf(inner, "type") === "function") checkTool(inner, `${path}.tools[${index}]`, report);
  }
  if (type === "mcp" && !["server_url", "connector_id", "tunnel_id"].some((name) => isSet(tool, name)))
    report.add("mcp-server", path, `${path} names no MCP server. Add server_url, connector_id or tunnel_id.`);
}

/** Types of a choice that names a tool. */
const NAMED_CHOICES = ["function", "custom"];

function checkToolChoice(body: JsonRecord, report: Report): void {
  const choice = own(body, "tool_choice");
  // A prompt template, a stored response and some items also define tools.
  if (CONTINUATIONS.some((name) => isSet(body, name)) || listOf(body, "input").some(definesTools)) return;
  const tools = listOf(body, "tools");
  if (tools.length === 0) {
    if (isRecord(choice) || choice === "required")
      report.add("choice-without-tools", "tool_choice", "tool_choice needs tools. Add tools, or remove it.");
    return;
  }
  const known = new Set(tools.flatMap(toolKeys));
  if (isRecord(choice)) requireTool(choice, known, "tool_choice", report);
  for (const [index, tool] of listOf(choice, "tools").entries())
    requireTool(tool, known, `tool_choice.tools[${index}]`, report);
}

function definesTools(item: unknown): boolean {
  const type = itemType(item);
  return type === "additional_tools" || type === "tool_search_output" || type === "item_reference";
}

function toolKeys(tool: unknown): readonly string[] {
  const key = `${textOf(tool, "type")} ${textOf(tool, "name")}`;
  return textOf(tool, "type") === "namespace" ? listOf(tool, "tools").flatMap(toolKeys) : [key];
}

function requireTool(choice: unknown, known: ReadonlySet<string>, path: string, report: Report): void {
  const type = textOf(choice, "type");
  const name = textOf(choice, "name");
  if (type === undefined || name === undefined || !NAMED_CHOICES.includes(type)) return;
  if (known.has(`${type} ${name}`)) return;
  report.add(
    "choice-unknown-tool",
    path,
    `${path} names the tool ${quote(name)}, which the request does not define. Add it to tools.`,
  );
}

function checkFormat(body: JsonRecord, report: Report): void {
  const format = fieldOf(own(body, "text"), "format");
  const type = textOf(format, "type");
  if (type === "json_schema") {
    const strict = fieldOf(format, "strict") === true;
    checkOutputSchema(fieldOf(format, "schema"), { path: "text.format.schema", strict, report });
  }
  const { earlier = [] } = report.options;
  const continues = CONTINUATIONS.some((name) => isSet(body, name));
  if (type !== "json_object" || !isSet(body, "input")) return;
  if (continues && report.options.earlier === undefined) return;
  if (isSet(body, "prompt") || hasWord([own(body, "input"), ...earlier])) return;
  report.add(
    "json-word-missing",
    "input",
    'The input does not contain the word "JSON". Ask for JSON in a message, or use a JSON schema.',
  );
}

/** True if a string of the values contains the word JSON. Uses no recursion, because values may be deep. */
function hasWord(values: readonly unknown[]): boolean {
  const open: unknown[] = [...values];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === "string" && /json/i.test(value)) return true;
    if (Array.isArray(value)) for (const entry of value) open.push(entry);
    else if (isRecord(value)) for (const entry of Object.values(value)) open.push(entry);
  }
  return false;
}

/** Parameters that reasoning models accept only with their default, and the default. */
const REASONING_DEFAULTS: Readonly<Record<string, unknown>> = { temperature: 1, top_p: 1, top_logprobs: 0 };

function checkReasoning(body: JsonRecord, report: Report): void {
  const effort = fieldOf(own(body, "reasoning"), "effort");
  checkEffort(effort, "reasoning.effort", report);
  checkReasoningDefaults(body, effort, REASONING_DEFAULTS, report);
}
