import type { Report } from "../report.ts";
import { at, isRecord, own, quote } from "../values.ts";
import {
  ALLOWED_TOOLS,
  CACHE_MARK,
  COMMON_FIELDS,
  customFormat,
  effort,
  GRAMMAR,
  JSON_FORMAT,
  nameUpTo,
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

/** Characters of the id of a tool call. */
const MAX_CALL_ID_LENGTH = 64;

const name = nameUpTo(MAX_NAME_LENGTH);

/** The API refuses only characters that its prompt format uses. Sources disagree on all others. */
const participantName: Shape = textOfLength({ min: 1, max: MAX_NAME_LENGTH });

const PARTS: Fields = {
  text: object({ type: text, text }, CACHE_MARK),
  image_url: object(
    { type: text, image_url: object({ url: text }, { detail: oneOf("auto", "low", "high") }) },
    CACHE_MARK,
  ),
  input_audio: object(
    { type: text, input_audio: object({ data: text, format: oneOf("wav", "mp3") }) },
    CACHE_MARK,
  ),
  file: object(
    { type: text, file: object({}, { file_data: text, file_id: text, filename: text }) },
    CACHE_MARK,
  ),
  refusal: object({ type: text, refusal: text }),
};

/** A content part of a message with this role. */
function partIn(role: string, ...types: readonly string[]): Shape {
  const allowed = new Set(types);
  return (value, path, report) => {
    if (!isRecord(value)) {
      wrongType(path, "an object", value, report);
      return;
    }
    const type = own(value, "type");
    if (type === undefined) missingField(at(path, "type"), report);
    else if (typeof type !== "string") wrongType(at(path, "type"), "a string", type, report);
    else if (allowed.has(type)) PARTS[type]?.(value, path, report);
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
  return byType({ string: text, array: listOf(partIn(role, ...types), { min: 1 }) });
}

const functionCall = object({ name, arguments: text });

const toolCall = tagged({
  function: object({ id: textOfLength({ max: MAX_CALL_ID_LENGTH }), type: text, function: functionCall }),
  custom: object({
    id: textOfLength({ max: MAX_CALL_ID_LENGTH }),
    type: text,
    custom: object({ name, input: text }),
  }),
});

const messageOf: Fields = {
  developer: object(
    { role: text, content: content("developer", "text") },
    { name: nullable(participantName) },
  ),
  system: object({ role: text, content: content("system", "text") }, { name: nullable(participantName) }),
  user: object(
    { role: text, content: content("user", "text", "image_url", "input_audio", "file") },
    { name: nullable(participantName) },
  ),
  // The API accepts the fields of its own answer, because clients send the answer back as it is.
  assistant: object(
    { role: text },
    {
      content: nullable(content("assistant", "text", "refusal")),
      refusal: nullable(text),
      name: nullable(participantName),
      audio: nullable(object({ id: text }, { data: text, expires_at: anything, transcript: text })),
      function_call: nullable(functionCall),
      tool_calls: listOf(toolCall, { min: 1 }),
      annotations: anything,
    },
  ),
  // OpenAI's own examples send the tool's name with its output.
  tool: object(
    { role: text, content: content("tool", "text"), tool_call_id: textOfLength({ max: MAX_CALL_ID_LENGTH }) },
    { name: nullable(text) },
  ),
  function: object({ role: text, content: nullable(text), name }),
};

const definition = object(
  { name },
  { description: nullable(text), parameters: nullable(anyObject), strict: nullable(bool) },
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
  json_schema: object({ type: text, json_schema: object(JSON_FORMAT.required, JSON_FORMAT.optional) }),
});

const penalty = nullable(number({ min: -2, max: 2 }));

const location = object({
  type: oneOf("approximate"),
  approximate: object({}, { city: text, country: text, region: text, timezone: text }),
});

const SAMPLING: Fields = {
  frequency_penalty: penalty,
  presence_penalty: penalty,
  logit_bias: nullable(mapOf(number({ min: -100, max: 100 }))),
  logprobs: nullable(bool),
  top_logprobs: nullable(number({ min: 0, max: 20, whole: true })),
  max_completion_tokens: nullable(number({ min: 1, whole: true })),
  max_tokens: nullable(number({ min: 1, whole: true })),
  n: nullable(number({ min: 1, max: MAX_CHOICES, whole: true })),
  seed: nullable(number({ whole: true })),
  stop: nullable(byType({ string: text, array: listOf(text, { min: 1, max: MAX_STOP_SEQUENCES }) })),
  temperature: nullable(number({ min: 0, max: 2 })),
  top_p: nullable(number({ min: 0, max: 1 })),
};

export const chatBody: Shape = object(
  { model: text, messages: listOf(tagged(messageOf, "role"), { min: 1 }) },
  {
    ...COMMON_FIELDS,
    ...SAMPLING,
    audio: nullable(
      object({
        format: oneOf("wav", "aac", "mp3", "flac", "opus", "pcm16"),
        voice: byType({ string: text, object: object({ id: text }) }),
      }),
    ),
    function_call: byType({ string: oneOf("none", "auto"), object: object({ name: text }) }),
    functions: listOf(object({ name }, { description: text, parameters: anyObject }), {
      min: 1,
      max: MAX_TOOLS,
    }),
    modalities: nullable(listOf(oneOf("text", "audio"))),
    parallel_tool_calls: bool,
    prediction: nullable(object({ type: oneOf("content"), content: content("prediction", "text") })),
    reasoning_effort: nullable(effort),
    response_format: responseFormat,
    stream_options: nullable(object({}, { include_obfuscation: bool, include_usage: bool })),
    tool_choice: toolChoice,
    tools: listOf(tool, { min: 1, max: MAX_TOOLS }),
    verbosity: nullable(verbosity),
    web_search_options: object(
      {},
      { search_context_size: oneOf("low", "medium", "high"), user_location: nullable(location) },
    ),
  },
);
