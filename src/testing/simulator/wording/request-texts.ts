/** On the headers of a call, and on the shape and the fields of its body. */
export const REQUEST_TEXTS = {
  // Headers and status
  keyMissing: { verified: false, status: 401, text: "x-api-key header is required" },
  keyInvalid: { verified: false, status: 401, text: "invalid x-api-key" },
  versionMissing: { verified: true, text: "anthropic-version: header is required" },
  versionUnknown: { verified: false, text: 'anthropic-version: "{version}" is not a valid version' },
  contentType: { verified: false, text: "content-type: Input should be 'application/json'" },
  betaUnknown: {
    verified: true,
    text: "Unexpected value(s) {values} for the `anthropic-beta` header. Please consult our documentation at platform.claude.com/docs or try again without the header.",
  },
  modelUnknown: { verified: true, status: 404, text: "model: {model}" },
  tooManyBytes: { verified: true, status: 413, text: "Request exceeds the maximum size" },

  // Shape
  extraField: { verified: true, text: "{path}: Extra inputs are not permitted" },
  fieldRequired: { verified: false, text: "{path}: Field required" },
  notString: { verified: false, text: "{path}: Input should be a valid string" },
  notInteger: { verified: false, text: "{path}: Input should be a valid integer" },
  notNumber: { verified: false, text: "{path}: Input should be a valid number" },
  notBoolean: { verified: false, text: "{path}: Input should be a valid boolean" },
  notList: { verified: false, text: "{path}: Input should be a valid list" },
  notObject: { verified: false, text: "{path}: Input should be a valid dictionary" },
  notOneOf: { verified: false, text: "{path}: Input should be {choices}" },
  tagUnknown: {
    verified: false,
    text: "{path}: Input tag '{tag}' found using 'type' does not match any of the expected tags: {tags}",
  },
  tooSmall: { verified: true, text: "{path}: Input should be greater than or equal to {minimum}" },
  tooBig: { verified: false, text: "{path}: Input should be less than or equal to {maximum}" },
  stringTooShort: { verified: false, text: "{path}: String should have at least 1 character" },
  stringTooLong: { verified: false, text: "{path}: String should have at most {maximum} characters" },
  pattern: { verified: false, text: "{path}: String should match pattern '{pattern}'" },
  badRole: { verified: false, text: "{path}: Input should be 'user' or 'assistant'" },
  tooManyMessages: { verified: false, text: "messages: List should have at most {maximum} items" },

  // Fields of the request
  sampling: { verified: false, text: "`{field}` may only be set to its default for this model." },
  maxTokensCap: {
    verified: true,
    text: "max_tokens: {maxTokens} > {maximum}, which is the maximum allowed number of output tokens for {model}",
  },
  prewarm: { verified: false, text: "max_tokens: 0 cannot be combined with `{field}`." },
  budgetOverMaxTokens: {
    verified: true,
    text: "`max_tokens` must be greater than `thinking.budget_tokens`",
  },
  thinkingEnabled: {
    verified: true,
    text: '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
  },
  /** Only the first sentence is documented. */
  thinkingDisabled: {
    verified: false,
    text: '"thinking.type.disabled" is not supported for this model. Use "output_config.effort" to control thinking behavior.',
  },
  thinkingDisabledAtEffort: {
    verified: false,
    text: '"thinking.type.disabled" is not supported for this model at effort "{effort}".',
  },
  thinkingAdaptive: { verified: true, text: "adaptive thinking is not supported on this model" },
  thinkingBetweenTools: {
    verified: false,
    text: '"thinking.type.between_tools" is not supported for this model.',
  },
  forcedTool: {
    verified: true,
    text: 'tool_choice: type "tool" and "any" are not supported for this model.',
  },
  choiceWithoutTools: {
    verified: false,
    text: "tool_choice: may only be specified while providing tools",
  },
  chosenToolUnknown: { verified: false, text: "tool_choice: Tool '{name}' not found in provided tools" },
  toolNamesRepeated: { verified: false, text: "tools: Tool names must be unique." },
  allToolsDeferred: { verified: true, text: "All tools have defer_loading: true" },
  schemaComposed: {
    verified: false,
    text: "{path}: input_schema does not support oneOf, allOf, or anyOf at the top level",
  },
  toolsMissing: {
    verified: false,
    text: "Requests which include `tool_use` or `tool_result` blocks must define tools.",
  },
  toolReference: {
    verified: false,
    code: "tool_reference_unresolved",
    text: "{path}: tool `{name}` is not defined at this point of the conversation",
  },
} as const;
