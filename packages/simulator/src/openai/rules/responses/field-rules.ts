import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { OpenAiModel, OpenAiRequest } from "../../request.ts";
import { refuse } from "../../wording/refuse.ts";
import { changedSampling, checkRetention, hasStructuredOutput, reasons } from "../model-rules.ts";
import { listed, shortened } from "../shape/inspection.ts";
import { isGiven, recordIn, recordsIn, visitParts } from "./checked-body.ts";

/** Refuses a history that the API does not have, and a request with nothing to answer. */
export function checkHistory({ endpoint, body, earlier }: OpenAiRequest): void {
  const { previous_response_id: previous, conversation } = body;
  if (isGiven(previous) && isGiven(conversation)) refuse("twoHistories", null);
  if (earlier === undefined) {
    if (isGiven(conversation)) {
      const id = isRecord(conversation) ? conversation.id : conversation;
      refuse("conversationUnknown", null, { id: shortened(String(id)) });
    }
    if (isGiven(previous)) {
      refuse("previousResponseUnknown", "previous_response_id", { id: shortened(String(previous)) });
    }
  }
  const isElsewhere = isGiven(previous) || isGiven(conversation) || isGiven(body.prompt);
  if (endpoint === "responses" && !isElsewhere && isEmpty(body.input)) refuse("nothingToAnswer", null);
}

const isEmpty = (input: unknown): boolean => input === "" || (Array.isArray(input) && input.length === 0);

/** Tools that search the web. Their names have versions. */
const WEB_SEARCH = /^web_search/;

/** Refuses fields that do not go together. */
export function checkCombinations({ body }: OpenAiRequest): void {
  if (isGiven(body.stream_options) && body.stream !== true) refuse("streamOptionsAlone", "stream_options");
  if (body.background === true && body.store === false) refuse("backgroundUnstored", "background");
  const isJsonMode = formatType(body) === "json_object";
  if (isJsonMode && recordsIn(body.tools).some(({ type }) => WEB_SEARCH.test(String(type)))) {
    refuse("searchInJsonMode");
  }
}

const formatType = ({ text }: JsonRecord): unknown => recordIn(recordIn(text).format).type;

// Abilities of the model

/** Refuses fields that the model does not support. */
export function checkAbilities({ body }: OpenAiRequest, model: OpenAiModel): void {
  const isThinking = reasons(recordIn(body.reasoning).effort, model);
  if (isThinking) checkSampling(body);
  checkReasoningFields(body, model);
  if (isThinking) checkLogprobs(body);
  if (!model.isReasoning && includes(body, "reasoning.encrypted_content")) {
    refuse("encryptedContentUnsupported", "include");
  }
  checkVerbosity(body, model);
  if (formatType(body) === "json_schema" && !hasStructuredOutput(model.id)) {
    refuse("textFormatUnsupported", "text.format", { model: model.id });
  }
  checkRetention(body, model);
  const { max_output_tokens: limit } = body;
  if (typeof limit === "number" && limit > model.maxOutputTokens) {
    const path = "max_output_tokens";
    refuse("integerTooBig", path, { path, limit: model.maxOutputTokens, value: limit });
  }
}

function checkSampling(body: JsonRecord): void {
  const [path] = changedSampling(body);
  if (path !== undefined) refuse("samplingUnsupported", path, { path });
}

function checkReasoningFields(body: JsonRecord, model: OpenAiModel): void {
  const { effort, summary } = recordIn(body.reasoning);
  if (!model.isReasoning) {
    for (const [name, value] of Object.entries({ effort, summary })) {
      const path = `reasoning.${name}`;
      if (isGiven(value)) refuse("parameterUnsupported", path, { field: path });
    }
  } else if (isGiven(effort) && !model.efforts.includes(String(effort))) {
    const values = { value: String(effort), model: model.id, choices: listed(model.efforts) };
    refuse("valueUnsupported", "reasoning.effort", values);
  }
}

function checkLogprobs(body: JsonRecord): void {
  if (includes(body, "message.output_text.logprobs")) refuse("logprobsUnsupported", "include");
  if (typeof body.top_logprobs === "number" && body.top_logprobs > 0) {
    refuse("logprobsUnsupported", "top_logprobs");
  }
}

/** Models that do not reason write at medium verbosity only. */
function checkVerbosity(body: JsonRecord, model: OpenAiModel): void {
  const { verbosity } = recordIn(body.text);
  if (model.isReasoning || !isGiven(verbosity) || verbosity === "medium") return;
  const values = { value: String(verbosity), model: model.id, choices: listed(["medium"]) };
  refuse("valueUnsupported", "text.verbosity", values);
}

const includes = ({ include }: JsonRecord, value: string): boolean =>
  Array.isArray(include) && include.includes(value);

/** Refuses images for a model that does not see, and items of reasoning for a model that does not reason. */
export function checkModelInput(
  earlier: readonly JsonRecord[],
  input: readonly JsonRecord[],
  model: OpenAiModel,
): void {
  if (!model.acceptsImages) input.forEach(refuseImages);
  if (model.isReasoning || model.id.startsWith("computer-use")) return;
  const isReasoning = ({ type }: JsonRecord): boolean => type === "reasoning";
  if (earlier.some(isReasoning) || input.some(isReasoning)) refuse("reasoningItemsUnsupported", "input");
}

function refuseImages(item: JsonRecord, index: number): void {
  visitParts(item, ({ type }, place) => {
    const path = `input[${index}].${place}`;
    if (type === "input_image" || type === "computer_screenshot") refuse("imagesUnsupported", path, { path });
  });
}

/** Refuses JSON mode if no message asks for JSON: the model would write white space without end. */
export function checkJsonMode(items: readonly JsonRecord[], body: JsonRecord): void {
  if (formatType(body) !== "json_object") return;
  if (!items.some(mentionsJson)) refuse("jsonWordMissingInInput", "input");
}

function mentionsJson(item: JsonRecord): boolean {
  const isAbout = (value: unknown): boolean => typeof value === "string" && /json/i.test(value);
  let isFound = isAbout(item.content) || isAbout(item.output);
  visitParts(item, ({ text }) => {
    isFound ||= isAbout(text);
  });
  return isFound;
}
