import { describe, expect, it } from "vitest";
import { type ChatCall, type Expected, expectRule, type Row, refusalOf, user } from "./chat-bench.case.ts";

const FUNCTION = {
  type: "function",
  function: { name: "read", parameters: { type: "object", properties: {} } },
};
const reasoning: ChatCall = { model: "reasoning" };

const unsupported = (field: string): Expected => ({
  rule: "parameterUnsupported",
  message: `Unsupported parameter: '${field}' is not supported with this model.`,
  param: field,
  code: "unsupported_parameter",
});

const pairs = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));

const BODY: readonly Row[] = [
  [
    "metadata of a completion that is not stored",
    { metadata: { k: "v" }, store: true },
    { metadata: { k: "v" } },
    {
      rule: "metadataUnstored",
      message: "The 'metadata' parameter is only allowed when 'store' is enabled.",
      param: "metadata",
      code: null,
    },
  ],
  [
    "a search of the web on a model without it",
    { web_search_options: null },
    { web_search_options: {} },
    {
      rule: "webSearchUnsupported",
      message: "Web search options not supported with this model.",
      param: "web_search_options",
      code: null,
    },
  ],
  [
    "no model",
    {},
    { model: null },
    { rule: "modelMissing", message: "you must provide a model parameter", param: null, code: null },
  ],
  [
    "no messages",
    {},
    { messages: undefined },
    {
      rule: "fieldMissing",
      message: "Missing required parameter: 'messages'.",
      param: "messages",
      code: "missing_required_parameter",
    },
  ],
  [
    "messages that are null",
    {},
    { messages: null },
    {
      rule: "typeWrong",
      message: "Invalid type for 'messages': expected an array of objects, but got null instead.",
      param: "messages",
      code: "invalid_type",
    },
  ],
  [
    "an unknown field",
    { user: "u" },
    { top_k: 1 },
    {
      rule: "argumentUnknown",
      message: "Unrecognized request argument supplied: top_k",
      param: null,
      code: null,
    },
  ],
  [
    "an unknown field on a reasoning model",
    { reasoning_effort: "low" },
    { reasoning: { effort: "low" } },
    {
      rule: "fieldUnknown",
      message: "Unknown parameter: 'reasoning'.",
      param: "reasoning",
      code: "unknown_parameter",
    },
    reasoning,
  ],
  [
    "a temperature above the range",
    { temperature: 2 },
    { temperature: 2.5 },
    {
      rule: "decimalTooBig",
      message:
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 instead.",
      param: "temperature",
      code: "decimal_above_max_value",
    },
  ],
  [
    "a share of the probability below the range",
    { top_p: 0 },
    { top_p: -0.5 },
    {
      rule: "decimalTooSmall",
      message: "Invalid 'top_p': decimal below minimum value. Expected a value >= 0, but got -0.5 instead.",
      param: "top_p",
      code: "decimal_below_min_value",
    },
  ],
  [
    "a penalty below the range",
    { presence_penalty: -2, frequency_penalty: 2 },
    { frequency_penalty: -3 },
    {
      rule: "decimalTooSmall",
      message:
        "Invalid 'frequency_penalty': decimal below minimum value. Expected a value >= -2, but got -3 instead.",
      param: "frequency_penalty",
      code: "decimal_below_min_value",
    },
  ],
  [
    "no choices",
    { n: 1 },
    { n: 0 },
    {
      rule: "integerTooSmall",
      message: "Invalid 'n': integer below minimum value. Expected a value >= 1, but got 0 instead.",
      param: "n",
      code: "integer_below_min_value",
    },
  ],
  [
    "too many choices",
    { n: 128 },
    { n: 129 },
    {
      rule: "integerTooBig",
      message: "Invalid 'n': integer above maximum value. Expected a value <= 128, but got 129 instead.",
      param: "n",
      code: "integer_above_max_value",
    },
  ],
  [
    "a fraction of a token",
    { max_tokens: 1 },
    { max_tokens: 1.5 },
    {
      rule: "typeWrong",
      message: "Invalid type for 'max_tokens': expected an integer, but got a decimal number instead.",
      param: "max_tokens",
      code: "invalid_type",
    },
  ],
  [
    "five stop sequences",
    { stop: ["a", "b", "c", "d"] },
    { stop: ["a", "b", "c", "d", "e"] },
    {
      rule: "listTooLong",
      message:
        "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 instead.",
      param: "stop",
      code: "array_above_max_length",
    },
  ],
  [
    "a bias out of range",
    { logit_bias: { 50256: -100 } },
    { logit_bias: { 50256: 101 } },
    {
      rule: "decimalTooBig",
      message:
        "Invalid 'logit_bias.50256': decimal above maximum value. Expected a value <= 100, but got 101 instead.",
      param: "logit_bias.50256",
      code: "decimal_above_max_value",
    },
  ],
  [
    "log probabilities of too many tokens",
    { logprobs: true, top_logprobs: 20 },
    { logprobs: true, top_logprobs: 21 },
    {
      rule: "topLogprobsTooBig",
      message: "Invalid value for 'top_logprobs': must be less than or equal to 20.",
      param: "top_logprobs",
      code: null,
    },
  ],
  [
    "top_logprobs without logprobs",
    { logprobs: true, top_logprobs: 0 },
    { top_logprobs: 2 },
    {
      rule: "topLogprobsAlone",
      message: "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.",
      param: "top_logprobs",
      code: null,
    },
  ],
  [
    "stream options without a stream",
    { stream: true, stream_options: { include_usage: true } },
    { stream_options: { include_usage: true } },
    {
      rule: "streamOptionsAlone",
      message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      param: "stream_options",
      code: null,
    },
  ],
  [
    "an unknown stream option",
    { stream: true, stream_options: { include_obfuscation: false } },
    { stream: true, stream_options: { include_cost: true } },
    {
      rule: "fieldUnknown",
      message: "Unknown parameter: 'stream_options.include_cost'.",
      param: "stream_options.include_cost",
      code: "unknown_parameter",
    },
  ],
  [
    "seventeen pairs of metadata",
    { store: true, metadata: pairs(16) },
    { metadata: pairs(17) },
    {
      rule: "propertiesTooMany",
      message:
        "Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object with 17 properties instead.",
      param: "metadata",
      code: "object_above_max_properties",
    },
  ],
  [
    "a long key of metadata",
    { store: true, metadata: { ["k".repeat(64)]: "v" } },
    { metadata: { ["k".repeat(65)]: "v" } },
    {
      rule: "propertyNameTooLong",
      message:
        "Invalid property name in 'metadata': 'kkk...kkk' is too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
      param: "metadata",
      code: "property_name_above_max_length",
    },
  ],
  [
    "a long value of metadata",
    { store: true, metadata: { k: "v".repeat(512) } },
    { metadata: { k: "v".repeat(513) } },
    {
      rule: "stringTooLong",
      message:
        "Invalid 'metadata.k': string too long. Expected a string with maximum length 512, but got a string with length 513 instead.",
      param: "metadata.k",
      code: "string_above_max_length",
    },
  ],
  [
    "a long key of the prompt cache",
    { prompt_cache_key: "k".repeat(64), safety_identifier: "u".repeat(128) },
    { prompt_cache_key: "k".repeat(65) },
    {
      rule: "stringTooLong",
      message:
        "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
      param: "prompt_cache_key",
      code: "string_above_max_length",
    },
  ],
  [
    "an unknown service tier",
    { service_tier: "flex" },
    { service_tier: "gold" },
    {
      rule: "valueUnknown",
      message:
        "Invalid value: 'gold'. Supported values are: 'auto', 'default', 'flex', 'scale', 'priority', and 'fast'.",
      param: "service_tier",
      code: "invalid_value",
    },
  ],
  [
    "audio output without its settings",
    { modalities: ["text", "audio"], audio: { format: "mp3", voice: "alloy" } },
    { modalities: ["text", "audio"] },
    {
      rule: "audioMissing",
      message: "Missing required parameter: 'audio'.",
      param: "audio",
      code: "missing_required_parameter",
    },
  ],
  [
    "both token limits",
    { max_completion_tokens: 5, max_tokens: null },
    { max_completion_tokens: 5, max_tokens: 5 },
    {
      rule: "bothTokenLimits",
      message: "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      param: null,
      code: "invalid_parameter_combination",
    },
  ],
];

const MODEL_FACTS: readonly Row[] = [
  [
    "a setting for parallel calls on a model of the o series",
    { tools: [FUNCTION] },
    { tools: [FUNCTION], parallel_tool_calls: true },
    unsupported("parallel_tool_calls"),
    { model: "first" },
  ],
  [
    "max_tokens on a reasoning model",
    { max_completion_tokens: 128_000 },
    { max_tokens: 5 },
    {
      rule: "maxTokensUnsupported",
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      param: "max_tokens",
      code: "unsupported_parameter",
    },
    reasoning,
  ],
  [
    "more output tokens than the model writes",
    { max_tokens: 32_768 },
    { max_tokens: 32_769 },
    {
      rule: "maxTokensCap",
      message:
        "max_tokens is too large: 32769. This model supports at most 32768 completion tokens, whereas you provided 32769.",
      param: "max_tokens",
      code: "invalid_value",
    },
  ],
  [
    "an effort on a model that does not reason",
    { reasoning_effort: null },
    { reasoning_effort: "low" },
    {
      rule: "argumentUnknown",
      message: "Unrecognized request argument supplied: reasoning_effort",
      param: null,
      code: null,
    },
  ],
  [
    "an effort that the model does not have",
    { reasoning_effort: "high" },
    { reasoning_effort: "minimal" },
    {
      rule: "effortUnsupported",
      message:
        "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'none', 'low', 'medium', and 'high'.",
      param: "reasoning_effort",
      code: "unsupported_value",
    },
    reasoning,
  ],
  [
    "function tools together with an effort",
    { tools: [FUNCTION], reasoning_effort: "none" },
    { tools: [FUNCTION], reasoning_effort: "low" },
    {
      rule: "toolsWithEffort",
      message:
        "Function tools with reasoning_effort are not supported for gpt-5.5 in /v1/chat/completions. Please use /v1/responses instead.",
      param: "reasoning_effort",
      code: null,
    },
    reasoning,
  ],
  [
    "function tools on a model that reasons by default and has them only in Responses",
    { tools: [FUNCTION], reasoning_effort: "none" },
    { tools: [FUNCTION] },
    {
      rule: "toolsWithReasoning",
      message:
        "Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
      param: "reasoning_effort",
      code: null,
    },
    { model: "newest" },
  ],
  [
    "an effort on a model without efforts",
    {},
    { reasoning_effort: "low" },
    unsupported("reasoning_effort"),
    { model: "blind" },
  ],
  [
    "a temperature on a reasoning model",
    { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 },
    { temperature: 0.2 },
    {
      rule: "onlyDefault",
      message:
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      param: "temperature",
      code: "unsupported_value",
    },
    reasoning,
  ],
  [
    "a temperature while the model reasons on request",
    { temperature: 0.2, logprobs: true },
    { temperature: 0.2, reasoning_effort: "low" },
    {
      rule: "onlyDefault",
      message:
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      param: "temperature",
      code: "unsupported_value",
    },
    { model: "onRequest" },
  ],
  [
    "a share of the probability on a reasoning model",
    { top_p: 0.5, reasoning_effort: "none" },
    { top_p: 0.5 },
    {
      rule: "onlyDefault",
      message:
        "Unsupported value: 'top_p' does not support 0.5 with this model. Only the default (1) value is supported.",
      param: "top_p",
      code: "unsupported_value",
    },
    reasoning,
  ],
  ["stop sequences on a reasoning model", { stop: null }, { stop: ["a"] }, unsupported("stop"), reasoning],
  [
    "biases on the first reasoning models",
    { stop: ["a"] },
    { logit_bias: {} },
    unsupported("logit_bias"),
    { model: "first" },
  ],
  ...(["n", "presence_penalty", "max_completion_tokens", "logprobs"] as const).map(
    (field): Row => [
      `a prediction with ${field}`,
      { prediction: { type: "content", content: "a" } },
      { prediction: { type: "content", content: "a" }, [field]: field === "logprobs" ? true : 2 },
      {
        rule: "predictionConflict",
        message: `Unsupported parameter: '${field}' is not supported with 'prediction'.`,
        param: field,
        code: "unsupported_parameter",
      },
    ],
  ),
  [
    "a prediction on a reasoning model",
    {},
    { prediction: { type: "content", content: "a" } },
    unsupported("prediction"),
    reasoning,
  ],
  [
    "a penalty on a reasoning model",
    { presence_penalty: 1, reasoning_effort: "none" },
    { presence_penalty: 1 },
    unsupported("presence_penalty"),
    reasoning,
  ],
  [
    "log probabilities on a reasoning model",
    { logprobs: false },
    { logprobs: true },
    unsupported("logprobs"),
    reasoning,
  ],
];

describe("rules of chat completions for the fields of a body", () => {
  it.each(BODY)("a request is refused for %s, but not for its sound neighbor", (...row) => expectRule(row));
});

describe("rules of chat completions for the facts of a model", () => {
  it.each(MODEL_FACTS)("a request is refused for %s, but not for its sound neighbor", (...row) =>
    expectRule(row),
  );
});

describe("the order of faults", () => {
  it("a model that only the Responses API has is refused", () => {
    expect(refusalOf({}, { model: "professional" })).toEqual({
      rule: "responsesOnly",
      message: "This model is only supported in v1/responses and not in v1/chat/completions.",
      status: 404,
      type: "invalid_request_error",
      param: "model",
      code: null,
    });
  });

  it("reports the first fault of the shape in the order of the body", () => {
    expect(refusalOf({ temperature: "hot", n: 0 })).toMatchObject({ param: "temperature" });
    expect(refusalOf({ n: 0, temperature: "hot" })).toMatchObject({ param: "n" });
  });

  it("reports a fault of the shape before a fault of the conversation", () => {
    const messages = [{ role: "tool", tool_call_id: "a", content: "out" }];
    expect(refusalOf({ messages, n: 0 })).toMatchObject({ rule: "integerTooSmall" });
    expect(refusalOf({ messages })).toMatchObject({ rule: "toolOutputOrphan" });
  });

  it("reports missing content after every other fault", () => {
    const messages = [user(null), { role: "tool", tool_call_id: "a", content: "out" }];
    expect(refusalOf({ messages })).toMatchObject({ rule: "toolOutputOrphan" });
  });
});
