import type { JsonRecord } from "@longhaul/core/internal/messages";
import type { OpenAiModel } from "../../request.ts";
import { refuse } from "../../wording/refuse.ts";
import { changedSampling, checkRetention, hasStructuredOutput, reasons } from "../model-rules.ts";
import { checkFormatSchema, checkFunctionSchema } from "../schema/check-schema.ts";
import { listed, shortened } from "../shape/inspection.ts";
import { field, recordField, recordsField } from "./checked-body.ts";

/** Refuses fields that exclude or need each other, and schemas that the API cannot use. */
export function checkFields(body: JsonRecord): void {
  checkTools(body);
  checkFunctions(body);
  checkFormat(body);
  if (field(body, "max_tokens") !== undefined && field(body, "max_completion_tokens") !== undefined) {
    refuse("bothTokenLimits");
  }
  if (field(body, "top_logprobs") !== undefined && body.logprobs !== true) {
    refuse("topLogprobsAlone", "top_logprobs");
  }
  if (field(body, "stream_options") !== undefined && body.stream !== true) {
    refuse("streamOptionsAlone", "stream_options");
  }
  if (body.store !== true && Object.keys(recordField(body, "metadata") ?? {}).length > 0) {
    refuse("metadataUnstored", "metadata");
  }
  const wantsAudio = Array.isArray(body.modalities) && body.modalities.includes("audio");
  if (wantsAudio && field(body, "audio") === undefined) refuse("audioMissing", "audio");
  if (field(body, "prediction") !== undefined) checkPrediction(body);
}

/** Fields that exclude a predicted output in any value, and fields that exclude it in some values. */
const NEVER_PREDICTED = ["audio", "max_completion_tokens", "tools"];
const PREDICTED_UP_TO: Readonly<Record<string, number>> = { n: 1, presence_penalty: 0, frequency_penalty: 0 };

function checkPrediction(body: JsonRecord): void {
  for (const name of NEVER_PREDICTED) {
    if (field(body, name) !== undefined) refuse("predictionConflict", name, { field: name });
  }
  for (const [name, limit] of Object.entries(PREDICTED_UP_TO)) {
    const value = field(body, name);
    if (typeof value === "number" && value > limit) refuse("predictionConflict", name, { field: name });
  }
  if (body.logprobs === true) refuse("predictionConflict", "logprobs", { field: "logprobs" });
}

function checkTools(body: JsonRecord): void {
  const tools = recordsField(body, "tools");
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const definition = recordField(tool, String(tool.type)) ?? {};
    names.add(`${String(tool.type)} ${String(definition.name)}`);
    if (tool.type !== "function") continue;
    checkFunctionSchema({
      name: String(definition.name),
      parameters: definition.parameters,
      isStrict: definition.strict === true,
      param: `tools[${index}].function.parameters`,
    });
  }
  for (const name of ["tool_choice", "parallel_tool_calls"]) {
    if (tools.length === 0 && field(body, name) !== undefined) {
      refuse("onlyWithTools", name, { field: name });
    }
  }
  const choice = recordField(body, "tool_choice");
  if (choice !== undefined) checkChoice(choice, names);
}

/** Checks that the tools of a choice exist. */
function checkChoice(choice: JsonRecord, names: ReadonlySet<string>): void {
  const allowed = recordField(choice, "allowed_tools");
  const chosen = allowed === undefined ? [choice] : recordsField(allowed, "tools");
  for (const { type, ...definition } of chosen) {
    if (type !== "function" && type !== "custom") continue;
    const name = recordField(definition, type)?.name;
    if (typeof name !== "string" || names.has(`${type} ${name}`)) continue;
    refuse("chosenToolUnknown", "tool_choice", { name: shortened(name) });
  }
}

/** Checks the fields that `tools` and `tool_choice` have replaced. */
function checkFunctions(body: JsonRecord): void {
  const functions = recordsField(body, "functions");
  for (const [index, { name, parameters }] of functions.entries()) {
    const param = `functions[${index}].parameters`;
    checkFunctionSchema({ name: String(name), parameters, isStrict: false, param });
  }
  if (functions.length === 0 && field(body, "function_call") !== undefined) {
    refuse("functionCallAlone", "function_call");
  }
}

function checkFormat(body: JsonRecord): void {
  const format = recordField(body, "response_format");
  if (format?.type === "json_schema") checkFormatSchema(recordField(format, "json_schema") ?? {}, "chat");
}

/** Models that only the Responses API has: `ResponsesModel` of the official SDK, and captured answers. */
const RESPONSES_ONLY = /^(?:o1-pro|o3-pro|gpt-5-pro|gpt-5\.5-pro|gpt-5(?:\.\d+)?-codex)(?:-|$)/;
/** Models of OpenAI. The rules for them do not apply to models that a test adds under other names. */
const OWN_MODEL = /^(?:gpt-|o\d)/;
/** Models of the o series, which accept no setting for parallel calls. */
const O_SERIES = /^o\d/;

/** Refuses fields that the model does not accept. */
export function checkForModel(body: JsonRecord, model: OpenAiModel): void {
  if (RESPONSES_ONLY.test(model.id)) refuse("responsesOnly", "model");
  if (
    field(body, "web_search_options") !== undefined &&
    OWN_MODEL.test(model.id) &&
    !/search/.test(model.id)
  ) {
    refuse("webSearchUnsupported", "web_search_options");
  }
  if (field(body, "parallel_tool_calls") !== undefined && O_SERIES.test(model.id)) {
    refuse("parameterUnsupported", "parallel_tool_calls", { field: "parallel_tool_calls" });
  }
  if (recordField(body, "response_format")?.type === "json_schema" && !hasStructuredOutput(model.id)) {
    refuse("formatUnsupported", "response_format");
  }
  if (model.isReasoning && field(body, "max_tokens") !== undefined) {
    refuse("maxTokensUnsupported", "max_tokens");
  }
  for (const name of ["max_tokens", "max_completion_tokens"]) {
    const sent = field(body, name);
    if (typeof sent === "number" && sent > model.maxOutputTokens) {
      refuse("maxTokensCap", name, { sent, maximum: model.maxOutputTokens });
    }
  }
  checkRetention(body, model);
  checkEffort(body, model);
  checkToolsWithEffort(body, model);
  if (model.isReasoning) checkReasoningModel(body, model);
}

function checkEffort(body: JsonRecord, model: OpenAiModel): void {
  const effort = field(body, "reasoning_effort");
  if (typeof effort !== "string") return;
  if (!model.isReasoning) refuse("argumentUnknown", null, { name: "reasoning_effort" });
  if (model.efforts.includes(effort)) return;
  if (model.efforts.length === 0)
    refuse("parameterUnsupported", "reasoning_effort", { field: "reasoning_effort" });
  const choices = listed(model.efforts);
  refuse("effortUnsupported", "reasoning_effort", { value: shortened(effort), choices });
}

/**
 * Refuses function tools together with reasoning. From gpt-5.6 on, this concerns every call that does not turn
 * reasoning off. gpt-5.4 and gpt-5.5 refuse only an explicit effort. No source names other models.
 */
function checkToolsWithEffort(body: JsonRecord, { id }: OpenAiModel): void {
  const minor = /^gpt-5\.([456])(?:-|$)/.exec(id)?.[1];
  if (minor === undefined || !recordsField(body, "tools").some(({ type }) => type === "function")) return;
  const effort = field(body, "reasoning_effort");
  if (effort === "none") return;
  if (minor === "6") refuse("toolsWithReasoning", "reasoning_effort", { model: String(body.model) });
  if (effort !== undefined) refuse("toolsWithEffort", "reasoning_effort", { model: String(body.model) });
}

/** Models that reason, but accept stop sequences. The API reference excludes only later ones. */
const ACCEPTS_STOP = /^o1(?:-|$)|^o3-mini/;

/** Parameters that no model that reasons accepts, whatever its effort. */
const NEVER_WITH_REASONING = ["logit_bias", "prediction"];

/** Parameters whose default value the API names when it refuses another one. */
const NAMES_DEFAULT: readonly string[] = ["temperature", "top_p"];

function checkReasoningModel(body: JsonRecord, model: OpenAiModel): void {
  for (const name of ACCEPTS_STOP.test(model.id) ? NEVER_WITH_REASONING : [...NEVER_WITH_REASONING, "stop"]) {
    if (field(body, name) !== undefined) refuse("parameterUnsupported", name, { field: name });
  }
  if (!reasons(body.reasoning_effort, model)) return;
  for (const name of changedSampling(body)) {
    if (NAMES_DEFAULT.includes(name)) refuse("onlyDefault", name, { field: name, value: Number(body[name]) });
    refuse("parameterUnsupported", name, { field: name });
  }
  if (body.logprobs === true) refuse("parameterUnsupported", "logprobs", { field: "logprobs" });
}
