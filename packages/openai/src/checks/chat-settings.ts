import type { Report } from "../report.ts";
import { fieldOf, isRecord, isSet, type JsonRecord, listOf, own, quote, textOf } from "../values.ts";
import { checkOutputSchema, checkParameters } from "./json-schema.ts";
import {
  checkEffort,
  checkOutputLimit,
  checkRetention,
  checkSampling,
  checkStreamOptions,
  checkStructuredOutput,
  checkToolsWithReasoning,
  isOther,
} from "./model-settings.ts";

/** Checks tools and settings of a chat completion that depend on each other or on the model. */
export function checkChatSettings(body: JsonRecord, report: Report): void {
  checkModel(body, report);
  checkTools(body, report);
  checkToolChoice(body, report);
  checkResponseFormat(body, report);
  checkLimits(body, report);
  checkReasoning(body, report);
  checkDependencies(body, report);
  checkPrediction(body, report);
  checkStreamOptions(body, report);
  checkRetention(body, report);
  checkToolsWithReasoning(body, report);
}

/** Models that answer only in the Responses API. */
const RESPONSES_MODELS = [/^o[13]-pro(-|$)/, /^gpt-5(\.5)?-pro(-|$)/, /^gpt-5(\.\d+)?-codex(-|$)/];

function checkModel(body: JsonRecord, report: Report): void {
  const model = textOf(body, "model") ?? "";
  if (RESPONSES_MODELS.some((names) => names.test(model)))
    report.add(
      "model-endpoint",
      "model",
      `${model} does not answer in chat completions. Use the Responses API, or select another model.`,
    );
  const isOpenAi = model.startsWith("gpt-") || /^o\d/.test(model);
  if (isSet(body, "web_search_options") && isOpenAi && !model.includes("search"))
    report.add(
      "search-unsupported",
      "web_search_options",
      `${model} does not search the web in chat completions. Remove web_search_options, or select a search model.`,
    );
  if (isSet(body, "parallel_tool_calls") && /^o\d/.test(model))
    report.add(
      "parallel-unsupported",
      "parallel_tool_calls",
      `${model} has no setting for parallel calls. Remove parallel_tool_calls.`,
    );
}

function checkTools(body: JsonRecord, report: Report): void {
  for (const [index, tool] of listOf(body, "tools").entries()) {
    const definition = fieldOf(tool, "function");
    const path = `tools[${index}].function.parameters`;
    const strict = fieldOf(definition, "strict") === true;
    if (textOf(tool, "type") === "function")
      checkParameters(fieldOf(definition, "parameters"), { path, strict, report });
  }
  for (const [index, definition] of listOf(body, "functions").entries()) {
    const path = `functions[${index}].parameters`;
    checkParameters(fieldOf(definition, "parameters"), { path, strict: false, report });
  }
}

function checkToolChoice(body: JsonRecord, report: Report): void {
  const hasTools = isSet(body, "tools");
  const choice = own(body, "tool_choice");
  if (isSet(body, "tool_choice") && !hasTools)
    report.add("choice-without-tools", "tool_choice", "tool_choice needs tools. Add tools, or remove it.");
  if (own(body, "parallel_tool_calls") !== undefined && !hasTools)
    report.add(
      "parallel-without-tools",
      "parallel_tool_calls",
      "parallel_tool_calls needs tools. Add tools, or remove it.",
    );
  if (isSet(body, "function_call") && !isSet(body, "functions"))
    report.add(
      "function-call-without-functions",
      "function_call",
      "function_call needs functions. Add functions, or remove it.",
    );
  if (!hasTools) return;
  const tools = new Set(listOf(body, "tools").map(toolKey));
  if (isRecord(choice) && textOf(choice, "type") !== "allowed_tools")
    requireTool(toolKey(choice), tools, "tool_choice", report);
  const allowed = fieldOf(choice, "allowed_tools");
  for (const [index, tool] of listOf(allowed, "tools").entries())
    requireTool(toolKey(tool), tools, `tool_choice.allowed_tools.tools[${index}]`, report);
}

/** Type and name of a tool or of a choice. Undefined if it names no tool. */
function toolKey(tool: unknown): string | undefined {
  const type = textOf(tool, "type");
  if (type === undefined) return undefined;
  const name = textOf(fieldOf(tool, type), "name");
  return name === undefined ? undefined : `${type} ${name}`;
}

function requireTool(
  key: string | undefined,
  tools: ReadonlySet<string | undefined>,
  path: string,
  report: Report,
): void {
  if (key === undefined || tools.has(key)) return;
  report.add(
    "choice-unknown-tool",
    path,
    `${path} names the tool ${quote(key.slice(key.indexOf(" ") + 1))}, which the request does not define. Add it to tools.`,
  );
}

function checkResponseFormat(body: JsonRecord, report: Report): void {
  const format = own(body, "response_format");
  const type = textOf(format, "type");
  checkStructuredOutput(type, body, "response_format", report);
  if (type === "json_schema") {
    const schema = fieldOf(format, "json_schema");
    const path = "response_format.json_schema.schema";
    const strict = fieldOf(schema, "strict") === true;
    checkOutputSchema(fieldOf(schema, "schema"), { path, strict, report });
  }
  const messages = listOf(body, "messages");
  if (type === "json_object" && messages.length > 0 && !messages.some(mentionsJson))
    report.add(
      "json-word-missing",
      "messages",
      'No message contains the word "JSON". Ask for JSON in a message, or use a JSON schema.',
    );
}

function mentionsJson(message: unknown): boolean {
  const content = fieldOf(message, "content");
  const texts = Array.isArray(content) ? content.map((part) => textOf(part, "text")) : [content];
  return texts.some((text) => typeof text === "string" && /json/i.test(text));
}

function checkLimits(body: JsonRecord, report: Report): void {
  if (isSet(body, "max_tokens") && isSet(body, "max_completion_tokens"))
    report.add(
      "max-tokens-twice",
      "max_tokens",
      "max_tokens and max_completion_tokens are both set. Remove max_tokens.",
    );
  for (const name of ["max_tokens", "max_completion_tokens"]) checkOutputLimit(body, name, report);
}

/** Parameters that no reasoning model accepts. */
const NEVER_WITH_REASONING = ["max_tokens", "logit_bias", "prediction"];

/** Reasoning models that accept stop sequences. The SDK excludes only later ones. */
const ACCEPTS_STOP = /^(?:o1|o3-mini)(?:-|$)/;

function checkReasoning(body: JsonRecord, report: Report): void {
  const effort = own(body, "reasoning_effort");
  checkEffort(effort, "reasoning_effort", report);
  if (report.options.reasoningModel !== true) return;
  const refused = ACCEPTS_STOP.test(textOf(body, "model") ?? "")
    ? NEVER_WITH_REASONING
    : [...NEVER_WITH_REASONING, "stop"];
  for (const name of refused) {
    if (isSet(body, name))
      report.add("reasoning-parameter", name, `Reasoning models do not accept ${name}. ${insteadOf(name)}`);
  }
  checkSampling(
    [
      ["temperature", isOther(body, "temperature", 1)],
      ["top_p", isOther(body, "top_p", 1)],
      ["presence_penalty", isOther(body, "presence_penalty", 0)],
      ["frequency_penalty", isOther(body, "frequency_penalty", 0)],
      ["logprobs", own(body, "logprobs") === true],
    ],
    effort,
    report,
  );
}

function insteadOf(name: string): string {
  return name === "max_tokens" ? "Send max_completion_tokens instead." : "Remove it.";
}

function checkDependencies(body: JsonRecord, report: Report): void {
  if (isSet(body, "top_logprobs") && own(body, "logprobs") !== true)
    report.add("logprobs-missing", "top_logprobs", "top_logprobs needs logprobs. Set logprobs to true.");
  const metadata = own(body, "metadata");
  if (isRecord(metadata) && Object.keys(metadata).length > 0 && own(body, "store") !== true)
    report.add(
      "metadata-unstored",
      "metadata",
      "Only a stored completion has metadata. Set store to true, or remove metadata.",
    );
  if (listOf(body, "modalities").includes("audio") && !isSet(body, "audio"))
    report.add(
      "audio-missing",
      "audio",
      'The modality "audio" needs a voice and a format. Add them in the field audio.',
    );
}

function checkPrediction(body: JsonRecord, report: Report): void {
  if (!isSet(body, "prediction")) return;
  const n = own(body, "n");
  const conflicts: readonly (readonly [name: string, isSet: boolean])[] = [
    ["n", typeof n === "number" && n > 1],
    ["logprobs", own(body, "logprobs") === true],
    ["presence_penalty", isPositive(own(body, "presence_penalty"))],
    ["frequency_penalty", isPositive(own(body, "frequency_penalty"))],
    ["audio", isSet(body, "audio")],
    ["max_completion_tokens", isSet(body, "max_completion_tokens")],
    ["tools", isSet(body, "tools")],
  ];
  for (const [name, isConflict] of conflicts) {
    if (isConflict)
      report.add(
        "prediction-conflict",
        name,
        `A predicted output cannot be combined with ${name}. Remove ${name} or prediction.`,
      );
  }
}

function isPositive(value: unknown): boolean {
  return typeof value === "number" && value > 0;
}
