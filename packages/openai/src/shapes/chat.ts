import type { Report } from "../report.ts";
import { at, isRecord, own, quote } from "../values.ts";
import {
  ALLOWED_TOOLS,
  COMMON_FIELDS,
  cacheMark,
  customFormat,
  effort,
  GRAMMAR,
  JSON_FORMAT,
  longText,
  nameUpTo,
  SERVICE_TIERS,
  verbosity,
} from "./common.ts";
import {
  anyObject,
  anything,
  bool,
  byType,
  type Fields,
  listOf,
  mapOf,
  missingField,
  nullable,
  nullableFields,
  number,
  object,
  oneOf,
  type Shape,
  tagged,
  text,
  textOfLength,
  unknownValue,
  wrongType,
} from "./shape.ts";

/** Shape of the body of `POST /v1/chat/completions`, after the types of the official SDK. */

const MAX_NAME_LENGTH = 64;
const MAX_TOOLS = 128;
const MAX_CHOICES = 128;
const MAX_STOP_SEQUENCES = 4;

/** Calls of one message. */
const MAX_CALLS = 128;

/**
 * Characters of the id of a tool call. The errors in vercel/ai#8132 and openclaw/openclaw#875 state this limit.
 * One report of July 2026 saw a longer id accepted, but a shorter one is safe with every model.
 */
const MAX_CALL_ID_LENGTH = 40;

/** Characters of `safety_identifier`. Before version 7, the SDK said 64. */
const MAX_IDENTIFIER_LENGTH = 128;

const name = nameUpTo(MAX_NAME_LENGTH);

/** The API had a narrower pattern until 2025. */
const PARTICIPANT = /^[^\s<|\\/>]+$/;

const participantName: Shape = (value, path, report) => {
  if (typeof value !== "string") wrongType(path, "a string", value, report);
  else if (!PARTICIPANT.test(value))
    report.add(
      "name-invalid",
      path,
      `${path} is ${quote(value)}. Use a name without spaces and without <, >, |, \\ and /.`,
    );
};

const MARKED: Fields = { prompt_cache_breakpoint: cacheMark };

/**
 * Fields of an answer that the Agents SDK of OpenAI (0.20.0) adds to each text and refusal that it sends back.
 */
const ANSWER: Fields = {
  role: anything,
  refusal: anything,
  annotations: anything,
  audio: anything,
  function_call: anything,
  tool_calls: anything,
};

const { refusal: _, ...REFUSED } = ANSWER;

/** Parts whose shape differs in messages of the assistant. */
const ANSWER_PARTS: Fields = {
  text: object({ type: text, text }, { ...MARKED, ...ANSWER }),
  refusal: object({ type: text, refusal: text }, REFUSED),
};

const PARTS: Fields = {
  text: object({ type: text, text }, MARKED),
  image_url: object(
    { type: text, image_url: object({ url: text }, { detail: oneOf("auto", "low", "high") }) },
    MARKED,
  ),
  input_audio: object(
    { type: text, input_audio: object({ data: text, format: oneOf("wav", "mp3") }) },
    MARKED,
  ),
  file: object({ type: text, file: object({}, { file_data: text, file_id: text, filename: text }) }, MARKED),
  refusal: object({ type: text, refusal: text }),
  audio: object({ type: text, audio: anything }),
};

/** A content part of a message with this role. */
function partIn(role: string, ...types: readonly string[]): Shape {
  const allowed = new Set(types);
  const parts = role === "assistant" ? { ...PARTS, ...ANSWER_PARTS } : PARTS;
  return (value, path, report) => {
    if (!isRecord(value)) {
      wrongType(path, "an object", value, report);
      return;
    }
    const type = own(value, "type");
    if (type === undefined) missingField(at(path, "type"), report);
    else if (typeof type !== "string") wrongType(at(path, "type"), "a string", type, report);
    else if (allowed.has(type)) parts[type]?.(value, path, report);
    else if (Object.hasOwn(PARTS, type)) wrongRole(at(path, "type"), type, role, types, report);
    else unknownValue(at(path, "type"), type, types, report);
  };
}

function wrongRole(path: string, type: string, role: string, types: readonly string[], report: Report): void {
  report.add(
    "part-in-wrong-role",
    path,
    `A message with role ${quote(role)} has a part of type ${quote(type)}. ` +
      `Use ${types.map(quote).join(" or ")}, or move the part to a user message.`,
  );
}

function content(role: string, ...types: readonly string[]): Shape {
  return byType({ string: longText, array: listOf(partIn(role, ...types), { min: 1 }) });
}

/** The helpers of the SDK add the parsed arguments to a call, and clients send the call back. */
const functionCall = object({ name, arguments: text }, { parsed_arguments: anything });

const toolCall = tagged({
  function: object({ id: textOfLength({ max: MAX_CALL_ID_LENGTH }), type: text, function: functionCall }),
  custom: object({
    id: textOfLength({ max: MAX_CALL_ID_LENGTH }),
    type: text,
    custom: object({ name, input: text }),
  }),
});

const messageOf: Fields = {
  developer: object({ role: text, content: content("developer", "text") }, { name: participantName }),
  system: object({ role: text, content: content("system", "text") }, { name: participantName }),
  user: object(
    { role: text, content: content("user", "text", "image_url", "input_audio", "file") },
    { name: participantName },
  ),
  // The API accepts the fields of its own answer, because clients send the answer back as it is.
  assistant: object(
    { role: text },
    {
      content: nullable(content("assistant", "text", "refusal", "audio")),
      refusal: nullable(text),
      name: participantName,
      audio: nullable(object({ id: text })),
      function_call: nullable(object({ name: text, arguments: text })),
      tool_calls: nullable(listOf(toolCall, { min: 1, max: MAX_CALLS })),
      annotations: anything,
      parsed: anything,
    },
  ),
  // OpenAI's own examples send the tool's name with its output.
  tool: object(
    { role: text, content: content("tool", "text"), tool_call_id: textOfLength({ max: MAX_CALL_ID_LENGTH }) },
    { name: text },
  ),
  function: object({ role: text, content: nullable(text), name }),
};

const definition = object(
  { name },
  { description: text, parameters: nullable(anyObject), strict: nullable(bool) },
);

const tool = tagged({
  function: object({ type: text, function: definition }),
  custom: object({
    type: text,
    custom: object(
      { name },
      {
        description: text,
        format: customFormat(object({ type: text, grammar: object(GRAMMAR) })),
      },
    ),
  }),
});

const toolChoice = byType({
  string: oneOf("none", "auto", "required"),
  object: tagged({
    function: object({ type: text, function: object({ name: text }) }),
    custom: object({ type: text, custom: object({ name: text }) }),
    allowed_tools: object({ type: text, allowed_tools: object(ALLOWED_TOOLS) }),
  }),
});

const responseFormat = tagged({
  text: object({ type: text }),
  json_object: object({ type: text }),
  json_schema: object({
    type: text,
    json_schema: object(JSON_FORMAT.required, { ...JSON_FORMAT.optional, description: text }),
  }),
});

const penalty = number({ min: -2, max: 2 });

const location = object({
  type: oneOf("approximate"),
  approximate: object({}, { city: text, country: text, region: text, timezone: text }),
});

const SAMPLING: Fields = {
  frequency_penalty: penalty,
  presence_penalty: penalty,
  logit_bias: mapOf(number({ min: -100, max: 100 })),
  logprobs: bool,
  top_logprobs: number({ min: 0, max: 20, whole: true }),
  max_completion_tokens: number({ min: 1, whole: true }),
  max_tokens: number({ min: 1, whole: true }),
  n: number({ min: 1, max: MAX_CHOICES, whole: true }),
  seed: number({ whole: true }),
  stop: byType({ string: text, array: listOf(text, { max: MAX_STOP_SEQUENCES }) }),
  temperature: number({ min: 0, max: 2 }),
  top_p: number({ min: 0, max: 1 }),
};

const OPTIONAL: Fields = {
  ...COMMON_FIELDS,
  ...SAMPLING,
  audio: object({
    format: oneOf("wav", "aac", "mp3", "flac", "opus", "pcm16"),
    voice: byType({ string: text, object: object({ id: text }) }),
  }),
  function_call: byType({ string: oneOf("none", "auto"), object: object({ name: text }) }),
  functions: listOf(object({ name }, { description: text, parameters: nullable(anyObject) }), {
    min: 1,
    max: MAX_TOOLS,
  }),
  modalities: listOf(oneOf("text", "audio")),
  parallel_tool_calls: bool,
  prediction: object({
    type: oneOf("content"),
    content: byType({ string: text, array: listOf(tagged({ text: object({ type: text, text }) })) }),
  }),
  prompt_cache_options: object({}, { mode: oneOf("implicit", "explicit"), ttl: oneOf("30m") }),
  // Older versions of the SDK wrote `in-memory`.
  prompt_cache_retention: oneOf("in_memory", "in-memory", "24h"),
  reasoning_effort: effort,
  response_format: responseFormat,
  safety_identifier: textOfLength({ max: MAX_IDENTIFIER_LENGTH }),
  service_tier: oneOf(...SERVICE_TIERS),
  stream_options: object({}, { include_obfuscation: bool, include_usage: bool }),
  tool_choice: toolChoice,
  tools: listOf(tool, { min: 1, max: MAX_TOOLS }),
  verbosity,
  web_search_options: object(
    {},
    { search_context_size: oneOf("low", "medium", "high"), user_location: nullable(location) },
  ),
};

/** The API treats `null` as absent in every optional field of the body. */
export const chatBody: Shape = object(
  { model: textOfLength({ min: 1 }), messages: listOf(tagged(messageOf, "role"), { min: 1 }) },
  nullableFields(OPTIONAL),
);
