import type { Report } from "../report.ts";
import { itemType } from "../shapes/responses-items.ts";
import { missingField } from "../shapes/shape.ts";
import { fieldOf, isRecord, isSet, type JsonRecord, listOf, own, quote, textOf } from "../values.ts";
import { checkId } from "./ids.ts";
import { checkOutputSchema, checkParameters } from "./json-schema.ts";
import {
  checkEffort,
  checkOutputLimit,
  checkRetention,
  checkSampling,
  checkStreamOptions,
  checkStructuredOutput,
  isOther,
} from "./model-settings.ts";

/** Checks tools and settings of a Responses request that depend on each other or on the model. */
export function checkResponsesSettings(body: JsonRecord, report: Report): void {
  checkConversation(body, report);
  for (const [index, tool] of listOf(body, "tools").entries()) checkTool(tool, `tools[${index}]`, report);
  checkToolChoice(body, report);
  checkHostedTools(body, report);
  checkFormat(body, report);
  checkReasoning(body, report);
  checkVerbosity(body, report);
  checkStreamOptions(body, report);
  checkRetention(body, report);
  checkOutputLimit(body, "max_output_tokens", report);
}

function checkConversation(body: JsonRecord, report: Report): void {
  const continues = ["prompt", "previous_response_id", "conversation"].some((name) => isSet(body, name));
  const input = own(body, "input");
  const isEmpty =
    input === undefined || input === null || input === "" || (Array.isArray(input) && input.length === 0);
  if (isEmpty && !continues)
    report.add("input-missing", "input", "The request has no input. Add the field input.");
  if (!isSet(body, "model") && !isSet(body, "prompt")) missingField("model", report);
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
  const previous = textOf(body, "previous_response_id");
  if (previous !== undefined) checkId(previous, "resp", "previous_response_id", report);
  const conversation = own(body, "conversation");
  const id = typeof conversation === "string" ? conversation : textOf(conversation, "id");
  if (id !== undefined) checkId(id, "conv", "conversation", report);
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
  const servers = ["server_url", "connector_id", "tunnel_id"].filter((name) => isSet(tool, name));
  if (type === "mcp" && servers.length !== 1)
    report.add(
      "mcp-server",
      path,
      `${path} names ${servers.length} MCP servers. Send exactly one of server_url, connector_id and tunnel_id.`,
    );
}

function checkToolChoice(body: JsonRecord, report: Report): void {
  const choice = own(body, "tool_choice");
  // A prompt template also defines tools.
  if (isSet(body, "prompt")) return;
  const tools = [...listOf(body, "tools"), ...addedTools(body, report)];
  if (tools.length === 0) {
    if (isRecord(choice) || choice === "required")
      report.add("choice-without-tools", "tool_choice", "tool_choice needs tools. Add tools, or remove it.");
    return;
  }
  const known = new Set(tools.flatMap(toolKeys));
  if (!isRecord(choice)) return;
  if (own(choice, "type") !== "allowed_tools") requireTool(choice, known, "tool_choice", report);
  for (const [index, tool] of listOf(choice, "tools").entries())
    requireTool(tool, known, `tool_choice.tools[${index}]`, report);
}

/** Tools that items of the conversation add. */
function addedTools(body: JsonRecord, { options }: Report): readonly unknown[] {
  return [...(options.earlier ?? []), ...listOf(body, "input")].flatMap((item) => {
    const type = itemType(item);
    return type === "additional_tools" || type === "tool_search_output" ? listOf(item, "tools") : [];
  });
}

/** Keys by which a choice can name a tool. */
function toolKeys(tool: unknown): readonly string[] {
  const type = textOf(tool, "type");
  if (type === "namespace") return listOf(tool, "tools").flatMap(toolKeys);
  return type === "mcp" ? ["mcp", toolKey(tool)] : [toolKey(tool)];
}

function toolKey(tool: unknown): string {
  const type = textOf(tool, "type") ?? "";
  if (type === "function" || type === "custom") return `${type} ${textOf(tool, "name")}`;
  const server = textOf(tool, "server_label");
  if (type === "mcp") return server === undefined ? type : `${type} ${server}`;
  // Some tools have several names: dated ones, and older ones of the computer.
  const undated = type.replace(/_\d{4}_\d{2}_\d{2}$/, "");
  return undated.startsWith("computer") ? "computer" : undated;
}

function requireTool(choice: unknown, known: ReadonlySet<string>, path: string, report: Report): void {
  if (known.has(toolKey(choice))) return;
  report.add(
    "choice-unknown-tool",
    path,
    `${path} names the tool ${quote(toolKey(choice))}, which the request does not define. Add it to tools.`,
  );
}

/** Hosted tools that do not work with the effort `minimal`. */
const NOT_AT_MINIMAL_EFFORT: ReadonlySet<unknown> = new Set([
  "web_search",
  "web_search_2025_08_26",
  "image_generation",
]);

function checkHostedTools(body: JsonRecord, report: Report): void {
  const tools = listOf(body, "tools");
  const isMinimal = fieldOf(own(body, "reasoning"), "effort") === "minimal";
  for (const [index, tool] of tools.entries()) {
    const path = `tools[${index}]`;
    const type = textOf(tool, "type");
    if (isMinimal && NOT_AT_MINIMAL_EFFORT.has(type))
      report.add(
        "tool-unsupported",
        path,
        `${path} does not work with the reasoning effort "minimal". Raise the effort, or remove the tool.`,
      );
    if (type === "tool_search" && fieldOf(tool, "execution") !== "client" && !tools.some(isDeferred))
      report.add(
        "search-without-tools",
        path,
        `${path} has no tools to find. Set defer_loading on at least one tool.`,
      );
  }
}

function isDeferred(tool: unknown): boolean {
  return (
    fieldOf(tool, "defer_loading") === true ||
    listOf(tool, "tools").some((inner) => fieldOf(inner, "defer_loading") === true)
  );
}

function searchesWeb(tool: unknown): boolean {
  return textOf(tool, "type")?.startsWith("web_search") === true;
}

function checkFormat(body: JsonRecord, report: Report): void {
  const format = fieldOf(own(body, "text"), "format");
  const type = textOf(format, "type");
  checkStructuredOutput(type, body, "text.format", report);
  if (type === "json_object" && listOf(body, "tools").some(searchesWeb))
    report.add(
      "search-in-json-mode",
      "text.format",
      'A web search does not work with the format "json_object". Use a JSON schema, or remove the tool.',
    );
  if (type === "json_schema") {
    const strict = fieldOf(format, "strict") === true;
    checkOutputSchema(fieldOf(format, "schema"), { path: "text.format.schema", strict, report });
  }
  const { earlier = [] } = report.options;
  const continues = isSet(body, "previous_response_id") || isSet(body, "conversation");
  if (type !== "json_object" || isSet(body, "prompt")) return;
  if (continues && report.options.earlier === undefined) return;
  if (hasWord([own(body, "input"), ...earlier.map(spoken), ...listOf(body, "input").map(spoken)])) return;
  report.add(
    "json-word-missing",
    "input",
    'The input does not contain the word "JSON". Ask for JSON in a message, or use a JSON schema.',
  );
}

/** Texts of a message or of a tool output. */
function spoken(item: unknown): unknown {
  const texts = (value: unknown): unknown =>
    Array.isArray(value) ? value.map((part) => textOf(part, "text")) : value;
  return [texts(fieldOf(item, "content")), texts(fieldOf(item, "output"))];
}

/** True if a string of the nested lists contains the word JSON. */
function hasWord(values: readonly unknown[]): boolean {
  return values.flat(2).some((value) => typeof value === "string" && /json/i.test(value));
}

function checkReasoning(body: JsonRecord, report: Report): void {
  const reasoning = own(body, "reasoning");
  const effort = fieldOf(reasoning, "effort");
  const include = listOf(body, "include");
  checkEffort(effort, "reasoning.effort", report);
  if (report.options.reasoningModel === false) {
    if (isSet(reasoning, "summary"))
      report.add(
        "reasoning-unsupported",
        "reasoning.summary",
        "The model does not reason. Remove reasoning.summary.",
      );
    if (include.includes("reasoning.encrypted_content"))
      report.add(
        "reasoning-unsupported",
        "include",
        'The model does not reason. Remove "reasoning.encrypted_content" from include.',
      );
  }
  const logprobs = own(body, "top_logprobs");
  checkSampling(
    [
      ["temperature", isOther(body, "temperature", 1)],
      ["top_p", isOther(body, "top_p", 1)],
      ["presence_penalty", isOther(body, "presence_penalty", 0)],
      ["frequency_penalty", isOther(body, "frequency_penalty", 0)],
      ["top_logprobs", typeof logprobs === "number" && logprobs > 0],
      ["include", include.includes("message.output_text.logprobs")],
    ],
    effort,
    report,
  );
}

function checkVerbosity(body: JsonRecord, report: Report): void {
  const verbosity = textOf(own(body, "text"), "verbosity");
  if (report.options.reasoningModel !== false || verbosity === undefined || verbosity === "medium") return;
  report.add(
    "verbosity-unsupported",
    "text.verbosity",
    'The model writes only with the verbosity "medium". Remove text.verbosity.',
  );
}
