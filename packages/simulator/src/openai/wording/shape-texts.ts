/**
 * Error texts about types, required fields and limits of single values. Both APIs of OpenAI use them. All were
 * captured from the API. `{path}` is the position of the value, as in `messages[2].tool_calls[0].id`.
 */
export const SHAPE_TEXTS = {
  fieldMissing: {
    verified: true,
    text: "Missing required parameter: '{path}'.",
    code: "missing_required_parameter",
    source: "captured: github.com/SilasMarvin/lsp-ai/issues/108, github.com/openai/codex/issues/6934",
  },
  fieldUnknown: {
    verified: true,
    text: "Unknown parameter: '{path}'.",
    code: "unknown_parameter",
    source: "captured: github.com/songquanpeng/one-api/issues/1319, github.com/bestruirui/octopus/issues/31",
  },
  /** Text of chat completions for fields of the body itself. */
  argumentUnknown: {
    verified: true,
    text: "Unrecognized request argument supplied: {name}",
    source: "captured: github.com/davidmigloz/langchain_dart/issues/712",
  },
  typeWrong: {
    verified: true,
    text: "Invalid type for '{path}': expected {expected}, but got {actual} instead.",
    code: "invalid_type",
    source: "captured: github.com/pydantic/pydantic-ai/issues/2653",
  },
  valueUnknown: {
    verified: true,
    text: "Invalid value: '{value}'. Supported values are: {choices}.",
    code: "invalid_value",
    source: "captured: github.com/run-llama/llama_index/issues/17748",
  },
  patternMismatch: {
    verified: true,
    text: "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern '{pattern}'.",
    code: "invalid_value",
    source: "captured: github.com/brekkylab/ailoy/pull/109",
  },
  integerTooSmall: {
    verified: true,
    text: "Invalid '{path}': integer below minimum value. Expected a value >= {limit}, but got {value} instead.",
    code: "integer_below_min_value",
    source: "captured: github.com/OpenBMB/ChatDev/issues/446",
  },
  integerTooBig: {
    verified: true,
    text: "Invalid '{path}': integer above maximum value. Expected a value <= {limit}, but got {value} instead.",
    code: "integer_above_max_value",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.5",
  },
  decimalTooSmall: {
    text: "Invalid '{path}': decimal below minimum value. Expected a value >= {limit}, but got {value} instead.",
    code: "decimal_below_min_value",
    source: "wording of integerTooSmall; limits of the API reference",
  },
  decimalTooBig: {
    text: "Invalid '{path}': decimal above maximum value. Expected a value <= {limit}, but got {value} instead.",
    code: "decimal_above_max_value",
    source: "wording of integerTooSmall; limits of the API reference",
  },
  stringTooLong: {
    verified: true,
    text: "Invalid '{path}': string too long. Expected a string with maximum length {limit}, but got a string with length {length} instead.",
    code: "string_above_max_length",
    source: "captured: github.com/getsentry/sentry-mcp/issues/106, github.com/AnswerDotAI/fastllm/issues/45",
  },
  stringEmpty: {
    verified: true,
    text: "Invalid '{path}': empty string. Expected a string with minimum length {limit}, but got an empty string instead.",
    code: "empty_string",
    source: "captured: github.com/continuedev/continue/issues/5091, github.com/earendil-works/pi/issues/4854",
  },
  listTooLong: {
    verified: true,
    text: "Invalid '{path}': array too long. Expected an array with maximum length {limit}, but got an array with length {length} instead.",
    code: "array_above_max_length",
    source:
      "captured: github.com/vishalmysore/Tools4AI/issues/16, github.com/openai/openai-dotnet/issues/317",
  },
  listEmpty: {
    verified: true,
    text: "Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    code: "empty_array",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.3",
  },
} as const;
