import { type RuleRow, user } from "./rule-bench.case.ts";

const UNKNOWN = "unknown_parameter";
const TYPE = "invalid_type";
const VALUE = "invalid_value";
const MISSING = "missing_required_parameter";

const numbered = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));

const compaction = (more: object): object => ({
  context_management: [{ type: "compaction", ...more }],
});

/** Rules for the fields of a body. */
export const BODY_ROWS: readonly RuleRow[] = [
  {
    rule: "a body without a model",
    wrong: { model: undefined, novelty: 1 },
    sound: {},
    expected: ["Missing required parameter: 'model'.", "model", MISSING],
  },
  {
    rule: "a model of null",
    wrong: { model: null },
    sound: {},
    expected: ["Invalid type for 'model': expected a string, but got an object instead.", "model", TYPE],
  },
  {
    rule: "an unknown model",
    wrong: { model: "gpt-x" },
    sound: {},
    call: { model: undefined },
    soundCall: {},
    expected: ["The requested model 'gpt-x' does not exist.", "model", "model_not_found"],
  },
  {
    rule: "a body without an input",
    wrong: { input: undefined, truncation: "bogus" },
    sound: { input: undefined, prompt: { id: "pmpt_1" } },
    expected: ["Missing required parameter: 'input'.", "input", MISSING],
  },
  {
    rule: "an input of null",
    wrong: { input: null },
    sound: { input: "", prompt: { id: "pmpt_1" } },
    expected: ["Invalid type for 'input': expected a string, but got an object instead.", "input", TYPE],
  },
  {
    rule: "an empty input",
    wrong: { input: [], temperature: 0.5 },
    sound: { input: [], previous_response_id: "resp_1" },
    expected: [
      "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.",
      null,
      MISSING,
    ],
  },
  {
    rule: "an unknown field, before a fault in a known field",
    wrong: { input: [{ bogus: 1 }], zzz: 1 },
    sound: { user: "u" },
    expected: ["Unknown parameter: 'zzz'.", "zzz", UNKNOWN],
  },
  {
    rule: "a misspelled field, with suggestions",
    wrong: { strem: true },
    sound: { stream: true },
    expected: ["Unknown parameter: 'strem'. Did you mean 'stream' or 'store'?", "strem", UNKNOWN],
  },
  {
    rule: "a misspelled field that the body has already",
    wrong: { modell: "gpt-5" },
    sound: {},
    expected: ["Unknown parameter: 'modell'.", "modell", UNKNOWN],
  },
  {
    rule: "an include that is no list",
    wrong: { include: "x" },
    sound: { include: null },
    expected: [
      "Invalid type for 'include': expected an array of one of 'fil...lts', 'web...lts', 'web...ces', 'mes...url', 'com...url', 'cod...uts', 'rea...ent', or 'mes...obs', but got a string instead.",
      "include",
      TYPE,
    ],
  },
  {
    rule: "the messages of chat completions",
    wrong: { messages: [] },
    sound: {},
    expected: [
      "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'. Try again with the new parameter. See the API documentation for more information: https://platform.openai.com/docs/api-reference/responses/create.",
      null,
      "unsupported_parameter",
    ],
  },
  {
    rule: "faults in the order of the API, not of the body",
    wrong: { truncation: "x", text: { verbosity: "x" } },
    sound: { truncation: "auto", text: { verbosity: "low" } },
    expected: [
      "Invalid value: 'x'. Supported values are: 'low', 'medium', and 'high'.",
      "text.verbosity",
      VALUE,
    ],
  },
  {
    rule: "a choice of another type",
    wrong: { truncation: { a: 1 } },
    sound: { truncation: null },
    expected: [
      "Invalid type for 'truncation': expected one of 'auto' or 'disabled', but got an object instead.",
      "truncation",
      TYPE,
    ],
  },
  {
    rule: "an unknown tier",
    wrong: { service_tier: "premium" },
    sound: { service_tier: "ultrafast" },
    expected: [
      "Invalid value: 'premium'. Supported values are: 'auto', 'default', 'fast', 'flex', and 'priority'.",
      "service_tier",
      VALUE,
    ],
  },
  {
    rule: "too few output tokens",
    wrong: { max_output_tokens: 15 },
    sound: { max_output_tokens: 16 },
    expected: [
      "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.",
      "max_output_tokens",
      "integer_below_min_value",
    ],
  },
  {
    rule: "more output tokens than the model writes",
    wrong: { max_output_tokens: 128_001 },
    sound: { max_output_tokens: 128_000 },
    expected: [
      "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 128000, but got 128001 instead.",
      "max_output_tokens",
      "integer_above_max_value",
    ],
  },
  {
    rule: "too many properties of the metadata",
    wrong: { metadata: numbered(17) },
    sound: { metadata: numbered(16) },
    expected: [
      "Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object with 17 properties instead.",
      "metadata",
      "object_above_max_properties",
    ],
  },
  {
    rule: "a long name in the metadata",
    wrong: { metadata: { ["k".repeat(70)]: "v" } },
    sound: { metadata: { ["k".repeat(64)]: "v" } },
    expected: [
      "Invalid property name in 'metadata': 'kkk...kkk' is too long. Expected a string with maximum length 64, but got a string with length 70 instead.",
      `metadata.${"k".repeat(70)}`,
      "property_name_above_max_length",
    ],
  },
  {
    rule: "a number in the metadata",
    wrong: { metadata: { k: 7 } },
    sound: { metadata: { k: "7" } },
    expected: [
      "Invalid type for 'metadata.k': expected a string, but got an integer instead.",
      "metadata.k",
      TYPE,
    ],
  },
  {
    rule: "metadata that is no object",
    wrong: { metadata: "x" },
    sound: { metadata: {} },
    expected: [
      "Invalid type for 'metadata': expected a metadata object, but got a string instead.",
      "metadata",
      TYPE,
    ],
  },
  {
    rule: "data to include that does not exist",
    wrong: { include: ["bogus.thing"] },
    sound: { include: ["reasoning.encrypted_content"] },
    expected: [
      "Invalid value: 'bogus.thing'. Supported values are: 'file_search_call.results', 'web_search_call.results', 'web_search_call.action.sources', 'message.input_image.image_url', 'computer_call_output.output.image_url', 'code_interpreter_call.outputs', 'reasoning.encrypted_content', and 'message.output_text.logprobs'.",
      "include[0]",
      VALUE,
    ],
  },
  {
    rule: "a format without a name",
    wrong: { text: { format: { type: "json_schema" } } },
    sound: { text: { format: { type: "json_schema", name: "a", schema: { type: "object" } } } },
    expected: ["Missing required parameter: 'text.format.name'.", "text.format.name", MISSING],
  },
  {
    rule: "a strict format with an open schema",
    wrong: {
      text: {
        format: { type: "json_schema", name: "a", strict: true, schema: { type: "object", properties: {} } },
      },
    },
    sound: {
      text: { format: { type: "json_schema", name: "a", schema: { type: "object", properties: {} } } },
    },
    expected: [
      "Invalid schema for response_format 'a': In context=(), 'additionalProperties' is required to be supplied and to be false.",
      "text.format.schema",
      "invalid_json_schema",
    ],
  },
  {
    rule: "JSON mode without the word in a message",
    wrong: { input: [user("write")], instructions: "JSON", text: { format: { type: "json_object" } } },
    sound: { input: [user("write Json")], text: { format: { type: "json_object" } } },
    expected: [
      "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
      "input",
      null,
    ],
  },
  {
    rule: "options of a stream without a stream",
    wrong: { stream_options: { include_obfuscation: false } },
    sound: { stream: true, stream_options: { include_obfuscation: false } },
    expected: [
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      "stream_options",
      null,
    ],
  },
  {
    rule: "an option of a stream that only chat completions have",
    wrong: { stream: true, stream_options: { include_usage: true } },
    sound: { stream: true, stream_options: {} },
    expected: ["Unknown parameter: 'stream_options.include_usage'.", "stream_options.include_usage", UNKNOWN],
  },
  {
    rule: "a response in the background that is not stored",
    wrong: { background: true, store: false },
    sound: { background: true },
    expected: ["Background mode requires 'store' to be true.", "background", null],
  },
  {
    rule: "a search of the web in JSON mode",
    wrong: { input: "JSON", tools: [{ type: "web_search" }], text: { format: { type: "json_object" } } },
    sound: {
      input: "JSON",
      tools: [{ type: "web_search" }],
      text: { format: { type: "json_schema", name: "a", schema: { type: "object" } } },
    },
    expected: ["Web Search cannot be used with JSON mode."],
  },
  {
    rule: "another kind of context management",
    wrong: { context_management: [{ type: "foo" }] },
    sound: compaction({}),
    expected: ["Unsupported context_management type: 'foo'.", "context_management", null],
  },
  {
    rule: "a low threshold for compaction",
    wrong: compaction({ compact_threshold: 999 }),
    sound: compaction({ compact_threshold: 1_000 }),
    expected: [
      "Invalid 'context_management[0].compact_threshold': integer below minimum value. Expected a value >= 1000, but got 999 instead.",
      "context_management[0].compact_threshold",
      "integer_below_min_value",
    ],
  },
  {
    rule: "an empty list of context management",
    wrong: { context_management: [] },
    sound: { context_management: null },
    expected: [
      "Invalid 'context_management': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      "context_management",
      "empty_array",
    ],
  },
];

/** Rules for the history that a request continues. */
export const HISTORY_ROWS: readonly RuleRow[] = [
  {
    rule: "an unknown previous response",
    wrong: { previous_response_id: "resp_x", temperature: 0.5 },
    sound: { previous_response_id: "resp_x" },
    call: { earlier: undefined },
    soundCall: { earlier: [] },
    expected: [
      "Previous response with id 'resp_x' not found.",
      "previous_response_id",
      "previous_response_not_found",
    ],
  },
  {
    rule: "an unknown conversation",
    wrong: { conversation: { id: "conv_x" } },
    sound: { conversation: "conv_x" },
    call: { earlier: undefined },
    soundCall: { earlier: [] },
    expected: ["Conversation with id 'conv_x' not found.", null, null, 404],
  },
  {
    rule: "a previous response with a conversation",
    wrong: { previous_response_id: "resp_x", conversation: "conv_x" },
    sound: { previous_response_id: "resp_x", conversation: null },
    expected: [
      "Mutually exclusive parameters: ''. Ensure you are only providing one of: 'pre..._id' or 'conversation'.",
      null,
      "mutually_exclusive_parameters",
    ],
  },
  {
    rule: "an id of another provider as previous response",
    wrong: { previous_response_id: "gen-123" },
    sound: { previous_response_id: "resp_123" },
    expected: [
      "Invalid 'previous_response_id': 'gen-123'. Expected an ID that begins with 'resp'.",
      "previous_response_id",
      VALUE,
    ],
  },
];
