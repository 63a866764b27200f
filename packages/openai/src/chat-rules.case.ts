import type { OpenAiCheckOptions } from "./report.ts";
import type { OpenAiRule } from "./rules.ts";

/** A body with one fault, and its neighbor without the fault. */
export interface RuleCase {
  readonly rule: OpenAiRule;
  /** End of the sentence "reports RULE if …". */
  readonly fault: string;
  readonly faulty: unknown;
  readonly sound: unknown;
  /** Path of the finding. */
  readonly path: string;
  readonly options?: OpenAiCheckOptions;
}

const USER = { role: "user", content: "What is in a.ts?" };
const CALL = { id: "call_1", type: "function", function: { name: "read", arguments: "{}" } };
const ASKS = { role: "assistant", content: null, tool_calls: [CALL] };
const OUTPUT = { role: "tool", tool_call_id: "call_1", content: "export {}" };

function body(fields: object = {}): object {
  return { model: "gpt-4.1", messages: [USER], ...fields };
}

function said(...messages: readonly object[]): object {
  return body({ messages });
}

function tool(parameters: unknown, more: object = {}): object {
  return { type: "function", function: { name: "read", parameters, ...more } };
}

const EMPTY = { type: "object", properties: {}, additionalProperties: false };

function strict(properties: object, more: object = {}): object {
  return tool(
    { type: "object", properties, required: Object.keys(properties), additionalProperties: false, ...more },
    { strict: true },
  );
}

/** Schemas with names of 100 characters. */
function named(count: number): object {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${index}`.padStart(100, "n"), { type: "string" }]),
  );
}

function image(url: string): object {
  return { role: "user", content: [{ type: "image_url", image_url: { url } }] };
}

function format(schema: object): object {
  return { type: "json_schema", json_schema: { name: "answer", strict: true, schema } };
}

function nested(levels: number): object {
  let schema: object = { type: "string" };
  for (let level = 0; level < levels; level += 1)
    schema = { type: "object", properties: { a: schema }, required: ["a"], additionalProperties: false };
  return schema;
}

const REASONS = { reasoningModel: true };

const SHAPES: readonly RuleCase[] = [
  { rule: "wrong-type", fault: "the body is no object", faulty: "hi", sound: body(), path: "" },
  {
    rule: "wrong-type",
    fault: "the arguments of a call are an object",
    faulty: said(
      USER,
      { ...ASKS, tool_calls: [{ ...CALL, function: { name: "read", arguments: {} } }] },
      OUTPUT,
    ),
    sound: said(USER, ASKS, OUTPUT),
    path: "messages[1].tool_calls[0].function.arguments",
  },
  {
    rule: "wrong-type",
    fault: "a field of a message is null",
    faulty: said({ role: "user", content: null }),
    sound: body({ metadata: null, tools: null }),
    path: "messages[0].content",
  },
  {
    rule: "missing-field",
    fault: "there is no model",
    faulty: { messages: [USER] },
    sound: body(),
    path: "model",
  },
  {
    rule: "missing-field",
    fault: "a part has no type",
    faulty: said({ role: "user", content: [{ text: "hi" }] }),
    sound: said({ role: "user", content: [{ type: "text", text: "hi" }] }),
    path: "messages[0].content[0].type",
  },
  {
    rule: "unknown-field",
    fault: "the body has a foreign field",
    faulty: body({ max_output_tokens: 9 }),
    sound: body({ max_tokens: 9 }),
    path: "max_output_tokens",
  },
  {
    rule: "unknown-field",
    fault: "a tool of another API is sent",
    faulty: body({ tools: [{ ...tool(EMPTY), name: "read" }] }),
    sound: body({ tools: [tool(EMPTY)] }),
    path: "tools[0].name",
  },
  {
    rule: "unknown-field",
    fault: "a user's part has fields of an answer",
    faulty: said({ role: "user", content: [{ type: "text", text: "hi", annotations: [] }] }),
    sound: said(
      USER,
      { role: "assistant", content: [{ type: "text", text: "hi", annotations: [], role: "assistant" }] },
      USER,
    ),
    path: "messages[0].content[0].annotations",
  },
  {
    rule: "unknown-value",
    fault: "the role does not exist",
    faulty: said({ role: "human", content: "hi" }),
    sound: said(USER),
    path: "messages[0].role",
  },
  {
    rule: "unknown-value",
    fault: "an effort does not exist",
    faulty: body({ reasoning_effort: "huge" }),
    sound: body({ reasoning_effort: "high" }),
    path: "reasoning_effort",
  },
  {
    rule: "out-of-range",
    fault: "the temperature is above 2",
    faulty: body({ temperature: 2.1 }),
    sound: body({ temperature: 2 }),
    path: "temperature",
  },
  {
    rule: "out-of-range",
    fault: "no choice is wanted",
    faulty: body({ n: 0 }),
    sound: body({ n: 1 }),
    path: "n",
  },
  {
    rule: "text-length",
    fault: "the cache key is too long",
    faulty: body({ prompt_cache_key: "k".repeat(65) }),
    sound: body({ prompt_cache_key: "k".repeat(64) }),
    path: "prompt_cache_key",
  },
  {
    rule: "list-length",
    fault: "there are no messages",
    faulty: said(),
    sound: said(USER),
    path: "messages",
  },
  {
    rule: "list-length",
    fault: "there are more than four stop sequences",
    faulty: body({ stop: ["a", "b", "c", "d", "e"] }),
    sound: body({ stop: ["a", "b", "c", "d"] }),
    path: "stop",
  },
  {
    rule: "list-length",
    fault: "there are more than 128 tools",
    faulty: body({ tools: Array.from({ length: 129 }, () => tool(EMPTY)) }),
    sound: body({ tools: Array.from({ length: 128 }, () => tool(EMPTY)) }),
    path: "tools",
  },
  {
    rule: "list-length",
    fault: "an assistant message has an empty list of calls",
    faulty: said(USER, { role: "assistant", content: "Done.", tool_calls: [] }),
    sound: said(USER, { role: "assistant", content: "Done." }),
    path: "messages[1].tool_calls",
  },
  {
    rule: "metadata-limit",
    fault: "there are more than 16 pairs",
    faulty: body({
      metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, "v"])),
    }),
    sound: body({
      store: true,
      metadata: Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`k${index}`, "v"])),
    }),
    path: "metadata",
  },
  {
    rule: "metadata-limit",
    fault: "a value is too long",
    faulty: body({ metadata: { k: "v".repeat(513) } }),
    sound: body({ store: true, metadata: { k: "v".repeat(512) } }),
    path: "metadata.k",
  },
  {
    rule: "metadata-limit",
    fault: "a key is too long",
    faulty: body({ metadata: { ["k".repeat(65)]: "v" } }),
    sound: body({ store: true, metadata: { ["k".repeat(64)]: "v" } }),
    path: `metadata.${"k".repeat(60)}…`,
  },
  {
    rule: "name-invalid",
    fault: "the name of a tool has a dot",
    faulty: body({ tools: [{ type: "function", function: { name: "fs.read" } }] }),
    sound: body({ tools: [{ type: "function", function: { name: "fs_read" } }] }),
    path: "tools[0].function.name",
  },
  {
    rule: "name-invalid",
    fault: "the name of a participant has a space",
    faulty: said({ ...USER, name: "Ann Lee" }),
    sound: said({ ...USER, name: "Änn.Lee-2" }),
    path: "messages[0].name",
  },
  {
    rule: "text-length",
    fault: "the identifier of a person is too long",
    faulty: body({ safety_identifier: "u".repeat(129) }),
    sound: body({ safety_identifier: "u".repeat(128) }),
    path: "safety_identifier",
  },
];

const CONTENTS: readonly RuleCase[] = [
  {
    rule: "part-in-wrong-role",
    fault: "a tool message has an image",
    faulty: said(USER, ASKS, {
      ...OUTPUT,
      content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }],
    }),
    sound: said(USER, ASKS, { ...OUTPUT, content: [{ type: "text", text: "a" }] }),
    path: "messages[2].content[0].type",
  },
  {
    rule: "content-missing",
    fault: "an assistant message has neither content nor calls",
    faulty: said(USER, { role: "assistant", content: null }),
    sound: said(USER, { role: "assistant", content: null, refusal: "No." }),
    path: "messages[1].content",
  },
  {
    rule: "image-url",
    fault: "an image is a file path",
    faulty: said(image("/tmp/a.png")),
    sound: said(image("data:image/png;base64,iVBORw0KGgo=")),
    path: "messages[0].content[0].image_url.url",
  },
  {
    rule: "image-unsupported",
    fault: "the model reads no images",
    faulty: said(image("https://example.com/a.png")),
    sound: said(USER),
    path: "messages[0].content[0]",
    options: { acceptsImages: false },
  },
  {
    rule: "file-source",
    fault: "a file has only a name",
    faulty: said({ role: "user", content: [{ type: "file", file: { filename: "a.pdf" } }] }),
    sound: said({ role: "user", content: [{ type: "file", file: { file_id: "file-1" } }] }),
    path: "messages[0].content[0].file",
  },
  {
    rule: "file-source",
    fault: "the data of a file are no data URL",
    faulty: said({ role: "user", content: [{ type: "file", file: { file_data: "JVBERi0=" } }] }),
    sound: said({
      role: "user",
      content: [{ type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0=" } }],
    }),
    path: "messages[0].content[0].file.file_data",
  },
  {
    rule: "call-unanswered",
    fault: "a call is the last message",
    faulty: said(USER, ASKS),
    sound: said(USER, ASKS, OUTPUT),
    path: "messages[1].tool_calls[0].id",
  },
  {
    rule: "call-unanswered",
    fault: "a user message comes before the output",
    faulty: said(USER, ASKS, USER, OUTPUT),
    sound: said(USER, ASKS, OUTPUT, USER),
    path: "messages[1].tool_calls[0].id",
  },
  {
    rule: "output-orphan",
    fault: "no message makes the call",
    faulty: said(USER, OUTPUT),
    sound: said(USER, ASKS, OUTPUT),
    path: "messages[1].tool_call_id",
  },
  {
    rule: "output-duplicate",
    fault: "a call has two outputs",
    faulty: said(USER, ASKS, OUTPUT, OUTPUT),
    sound: said(USER, ASKS, OUTPUT),
    path: "messages[3].tool_call_id",
  },
  {
    rule: "call-id-duplicate",
    fault: "two calls have one id",
    faulty: said(USER, { ...ASKS, tool_calls: [CALL, CALL] }, OUTPUT),
    sound: said(USER, ASKS, OUTPUT, ASKS, OUTPUT),
    path: "messages[1].tool_calls[1].id",
  },
];

const FUNCTION_MESSAGE = { role: "function", name: "read", content: "export {}" };

const PARAMETERS = "tools[0].function.parameters";

const TOOLS: readonly RuleCase[] = [
  {
    rule: "schema-root",
    fault: "the parameters have no type",
    faulty: body({ tools: [tool({ properties: {} })] }),
    sound: body({ tools: [tool(EMPTY)] }),
    path: PARAMETERS,
  },
  {
    rule: "schema-root",
    fault: "the parameters have no properties",
    faulty: body({ tools: [tool({ type: "object" })] }),
    sound: body({ tools: [tool(undefined)] }),
    path: PARAMETERS,
  },
  {
    rule: "schema-items",
    fault: "an array has no items",
    faulty: body({ tools: [tool({ type: "object", properties: { a: { type: "array" } } })] }),
    sound: body({ tools: [tool({ type: "object", properties: { a: { type: "array", items: {} } } })] }),
    path: PARAMETERS,
  },
  {
    rule: "schema-strict",
    fault: "a strict text has an unsupported format",
    faulty: body({ tools: [strict({ a: { type: ["string", "null"], format: "uri" } })] }),
    sound: body({ tools: [strict({ a: { type: "string", format: "date-time" } })] }),
    path: PARAMETERS,
  },
  {
    rule: "schema-strict",
    fault: "a strict object is open",
    faulty: body({ tools: [tool({ type: "object", properties: {} }, { strict: true })] }),
    sound: body({ tools: [tool({ type: "object", properties: {} }, { strict: false })] }),
    path: PARAMETERS,
  },
  {
    rule: "schema-strict",
    fault: "a strict schema does not require a property",
    faulty: body({ tools: [strict({ a: { type: "string" } }, { required: [] })] }),
    sound: body({ tools: [strict({ a: { type: ["string", "null"] } })] }),
    path: PARAMETERS,
  },
  {
    rule: "schema-strict",
    fault: "a strict schema uses a keyword that is not supported",
    faulty: body({ tools: [strict({ a: { oneOf: [{ type: "string" }] } })] }),
    sound: body({ tools: [strict({ a: { anyOf: [{ type: "string" }] } })] }),
    path: PARAMETERS,
  },
  {
    rule: "schema-strict",
    fault: "the schema of a strict format is not an object",
    faulty: body({ response_format: format({ type: "string" }) }),
    sound: body({ response_format: format({ ...EMPTY, required: [] }) }),
    path: "response_format.json_schema.schema",
  },
  {
    rule: "schema-size",
    fault: "a strict schema is too deep",
    faulty: body({ response_format: format(nested(11)) }),
    sound: body({ response_format: format(nested(10)) }),
    path: "response_format.json_schema.schema",
  },
  {
    rule: "schema-size",
    fault: "a strict schema has too many enum values",
    faulty: body({
      tools: [strict({ a: { type: "string", enum: Array.from({ length: 1001 }, (_, i) => `${i}`) } })],
    }),
    sound: body({
      tools: [strict({ a: { type: "string", enum: Array.from({ length: 1000 }, (_, i) => `${i}`) } })],
    }),
    path: PARAMETERS,
  },
  {
    rule: "schema-size",
    fault: "a definition is too deep, counted from its own root",
    faulty: body({ tools: [strict({ a: { $ref: "#/$defs/a" } }, { $defs: { a: nested(11) } })] }),
    sound: body({ tools: [strict({ a: { $ref: "#/$defs/a" } }, { $defs: { a: nested(10) } })] }),
    path: PARAMETERS,
  },
  {
    rule: "schema-size",
    fault: "a strict schema has too many properties",
    faulty: body({
      tools: [strict(Object.fromEntries(Array.from({ length: 5001 }, (_, i) => [`${i}`, { type: "null" }])))],
    }),
    sound: body({
      tools: [strict(Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`${i}`, { type: "null" }])))],
    }),
    path: PARAMETERS,
  },
  {
    rule: "schema-size",
    fault: "the names of definitions and properties have too many characters",
    faulty: body({ tools: [strict(named(600), { definitions: named(601) })] }),
    sound: body({ tools: [strict(named(600), { definitions: named(600) })] }),
    path: PARAMETERS,
  },
  {
    rule: "schema-size",
    fault: "a large enum has too many characters",
    faulty: body({
      tools: [
        strict({
          a: { type: "string", enum: Array.from({ length: 251 }, (_, i) => `${i}`.padStart(60, "0")) },
        }),
      ],
    }),
    sound: body({
      tools: [
        strict({
          a: { type: "string", enum: Array.from({ length: 250 }, (_, i) => `${i}`.padStart(61, "0")) },
        }),
      ],
    }),
    path: PARAMETERS,
  },
  {
    rule: "choice-without-tools",
    fault: "there are no tools to choose from",
    faulty: body({ tool_choice: "auto" }),
    sound: body({ tool_choice: "auto", tools: [tool(EMPTY)] }),
    path: "tool_choice",
  },
  {
    rule: "choice-unknown-tool",
    fault: "the choice names no tool of the request",
    faulty: body({ tools: [tool(EMPTY)], tool_choice: { type: "function", function: { name: "write" } } }),
    sound: body({ tools: [tool(EMPTY)], tool_choice: { type: "function", function: { name: "read" } } }),
    path: "tool_choice",
  },
  {
    rule: "choice-unknown-tool",
    fault: "an allowed tool is not a tool of the request",
    faulty: body({
      tools: [tool(EMPTY)],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: [{ type: "custom", custom: { name: "read" } }] },
      },
    }),
    sound: body({
      tools: [tool(EMPTY)],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "read" } }] },
      },
    }),
    path: "tool_choice.allowed_tools.tools[0]",
  },
  {
    rule: "parallel-without-tools",
    fault: "there are no tools to call in parallel",
    faulty: body({ parallel_tool_calls: false }),
    sound: body({ parallel_tool_calls: false, tools: [tool(EMPTY)] }),
    path: "parallel_tool_calls",
  },
  {
    rule: "function-call-without-functions",
    fault: "there are no functions to call",
    faulty: body({ function_call: "auto" }),
    sound: body({ function_call: "auto", functions: [{ name: "read" }] }),
    path: "function_call",
  },
];

const SETTINGS: readonly RuleCase[] = [
  {
    rule: "model-endpoint",
    fault: "only Responses has the model",
    faulty: body({ model: "gpt-5.3-codex" }),
    sound: body({ model: "gpt-5.3" }),
    path: "model",
  },
  {
    rule: "metadata-unstored",
    fault: "metadata come without store",
    faulty: body({ metadata: { run: "7" }, store: false }),
    sound: body({ metadata: {}, store: false }),
    path: "metadata",
  },
  {
    rule: "search-unsupported",
    fault: "the model does not search",
    faulty: body({ web_search_options: {} }),
    sound: body({ model: "gpt-5-search-api", web_search_options: {} }),
    path: "web_search_options",
  },
  {
    rule: "parallel-unsupported",
    fault: "a model of the o series has a setting for parallel calls",
    faulty: body({ model: "o4-mini", tools: [tool(EMPTY)], parallel_tool_calls: false }),
    sound: body({ model: "gpt-5", tools: [tool(EMPTY)], parallel_tool_calls: false }),
    path: "parallel_tool_calls",
  },
  {
    rule: "format-unsupported",
    fault: "the model has only JSON mode",
    faulty: body({ model: "gpt-4-turbo", response_format: format(EMPTY) }),
    sound: body({ model: "gpt-4o-2024-08-06", response_format: format(EMPTY) }),
    path: "response_format",
  },
  {
    rule: "role-unsupported",
    fault: "a reasoning model gets a function message",
    faulty: said(USER, FUNCTION_MESSAGE),
    sound: said(USER),
    path: "messages[1].role",
    options: REASONS,
  },
  {
    rule: "schema-type",
    fault: "a type does not exist",
    faulty: body({ tools: [tool({ type: "object", properties: { a: { type: "text" } } })] }),
    sound: body({ tools: [tool({ type: "object", properties: { a: { type: ["string", "null"] } } })] }),
    path: PARAMETERS,
  },
  {
    rule: "schema-strict",
    fault: "a reference leads nowhere",
    faulty: body({ tools: [strict({ a: { $ref: "#/$defs/a" } })] }),
    sound: body({ tools: [strict({ a: { $ref: "#/$defs/a" } }, { $defs: { a: { type: "string" } } })] }),
    path: PARAMETERS,
  },
  {
    rule: "schema-strict",
    fault: "a reference names an anchor",
    faulty: body({ tools: [strict({ a: { $ref: "#a" } })] }),
    sound: body({ tools: [strict({ a: { $ref: "#" } })] }),
    path: PARAMETERS,
  },
  {
    rule: "schema-root",
    fault: "the parameters are a choice",
    faulty: body({ tools: [tool({ ...EMPTY, oneOf: [] })] }),
    sound: body({ tools: [tool(EMPTY)] }),
    path: PARAMETERS,
  },
  {
    rule: "retention-unsupported",
    fault: "a new model should keep its cache in memory",
    faulty: { ...body({ prompt_cache_retention: "in_memory" }), model: "gpt-5.5" },
    sound: { ...body({ prompt_cache_retention: "in_memory" }), model: "gpt-5.4" },
    path: "prompt_cache_retention",
  },
  {
    rule: "tools-with-reasoning",
    fault: "a model that has tools only in Responses gets tools, and reasons by default",
    faulty: { ...body({ tools: [tool(EMPTY)] }), model: "gpt-5.6-terra" },
    sound: { ...body({ tools: [tool(EMPTY)], reasoning_effort: "none" }), model: "gpt-5.6-terra" },
    path: "reasoning_effort",
  },
  {
    rule: "tools-with-reasoning",
    fault: "a model that has tools only without an effort gets tools and an effort",
    faulty: { ...body({ tools: [tool(EMPTY)], reasoning_effort: "low" }), model: "gpt-5.4" },
    sound: { ...body({ tools: [tool(EMPTY)] }), model: "gpt-5.4" },
    path: "reasoning_effort",
  },
  {
    rule: "reasoning-parameter",
    fault: "a reasoning model gets a penalty",
    faulty: body({ presence_penalty: 0.5 }),
    sound: body({ presence_penalty: 0, frequency_penalty: null }),
    path: "presence_penalty",
    options: REASONS,
  },
  {
    rule: "json-word-missing",
    fault: "no message asks for JSON",
    faulty: body({ response_format: { type: "json_object" } }),
    sound: {
      ...said({ role: "user", content: "Answer in json." }),
      response_format: { type: "json_object" },
    },
    path: "messages",
  },
  {
    rule: "max-tokens-twice",
    fault: "both limits are set",
    faulty: body({ max_tokens: 9, max_completion_tokens: 9 }),
    sound: body({ max_completion_tokens: 9 }),
    path: "max_tokens",
  },
  {
    rule: "output-limit",
    fault: "the limit is above that of the model",
    faulty: body({ max_completion_tokens: 101 }),
    sound: body({ max_completion_tokens: 100 }),
    path: "max_completion_tokens",
    options: { maxOutputTokens: 100 },
  },
  {
    rule: "reasoning-parameter",
    fault: "a reasoning model gets a temperature",
    faulty: body({ temperature: 0 }),
    sound: body({ temperature: 1 }),
    path: "temperature",
    options: REASONS,
  },
  {
    rule: "reasoning-parameter",
    fault: "a reasoning model gets the old output limit",
    faulty: body({ max_tokens: 100 }),
    sound: body({ max_completion_tokens: 100 }),
    path: "max_tokens",
    options: REASONS,
  },
  {
    rule: "reasoning-parameter",
    fault: "a reasoning model gets stop sequences",
    faulty: body({ stop: "END" }),
    sound: body({ stop: null }),
    path: "stop",
    options: REASONS,
  },
  {
    rule: "reasoning-parameter",
    fault: "a model after o3-mini gets stop sequences",
    faulty: { ...body({ stop: "END" }), model: "o3" },
    sound: { ...body({ stop: "END" }), model: "o3-mini-2025-01-31" },
    path: "stop",
    options: REASONS,
  },
  {
    rule: "reasoning-parameter",
    fault: "a model reasons in spite of its default",
    faulty: body({ top_p: 0.5, reasoning_effort: "low" }),
    sound: body({ top_p: 0.5 }),
    path: "top_p",
    options: { ...REASONS, efforts: ["none", "low"] },
  },
  {
    rule: "reasoning-unsupported",
    fault: "the model does not reason",
    faulty: body({ reasoning_effort: "low" }),
    sound: body(),
    path: "reasoning_effort",
    options: { reasoningModel: false },
  },
  {
    rule: "reasoning-unsupported",
    fault: "the model has no such effort",
    faulty: body({ reasoning_effort: "max" }),
    sound: body({ reasoning_effort: "low" }),
    path: "reasoning_effort",
    options: { ...REASONS, efforts: ["low", "high"] },
  },
  {
    rule: "logprobs-missing",
    fault: "logprobs is not set",
    faulty: body({ top_logprobs: 2 }),
    sound: body({ top_logprobs: 2, logprobs: true }),
    path: "top_logprobs",
  },
  {
    rule: "stream-options-without-stream",
    fault: "the response is not streamed",
    faulty: body({ stream_options: { include_usage: true } }),
    sound: body({ stream: true, stream_options: { include_usage: true } }),
    path: "stream_options",
  },
  {
    rule: "audio-missing",
    fault: "no voice is set",
    faulty: body({ modalities: ["text", "audio"] }),
    sound: body({ modalities: ["text", "audio"], audio: { voice: "ash", format: "mp3" } }),
    path: "audio",
  },
  {
    rule: "prediction-conflict",
    fault: "a prediction comes with tools",
    faulty: body({ prediction: { type: "content", content: "a" }, tools: [tool(EMPTY)] }),
    sound: body({ prediction: { type: "content", content: "a" } }),
    path: "tools",
  },
];

export const CHAT_CASES: readonly RuleCase[] = [...SHAPES, ...CONTENTS, ...TOOLS, ...SETTINGS];
