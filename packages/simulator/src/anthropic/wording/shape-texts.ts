/** Texts about headers, and about the shape of the body. */
export const SHAPE_TEXTS = {
  // Headers and status
  keyMissing: {
    verified: true,
    status: 401,
    text: "x-api-key header is required",
    source: "docs: API overview, authentication; n8n-io/n8n#37930",
  },
  keyInvalid: {
    verified: true,
    status: 401,
    text: "invalid x-api-key",
    source: "docs: Errors, HTTP errors; eyaltoledano/claude-task-master#222",
  },
  versionMissing: {
    verified: true,
    text: "anthropic-version: header is required",
    source: "docs: Versions; PipedreamHQ/pipedream#9697",
  },
  versionUnknown: {
    verified: true,
    text: 'anthropic-version: "{version}" is not a valid version',
    source: "docs: Versions; directus-labs/extensions#285",
  },
  contentType: {
    text: "content-type: Input should be 'application/json'",
    source: "docs: API overview (required headers)",
  },
  betaUnknown: {
    verified: true,
    text: "Unexpected value(s) {values} for the `anthropic-beta` header. Please consult our documentation at platform.claude.com/docs or try again without the header.",
    source: "docs: Beta headers",
  },
  /** The API answers to a retired name as to an unknown one. */
  modelUnknown: {
    verified: true,
    status: 404,
    text: "model: {model}",
    source:
      "docs: Model deprecations; SDK 1.8.0: Model (without retired models); anthropics/claude-code#5349",
  },
  tooManyBytes: {
    verified: true,
    status: 413,
    text: "Request exceeds the maximum size",
    source: "docs: Errors, request size limits; anthropics/anthropic-sdk-python#938",
  },

  // Shape
  extraField: {
    verified: true,
    text: "{path}: Extra inputs are not permitted",
    source: "anthropics/claude-code#14135, #4378",
  },
  fieldRequired: { verified: true, text: "{path}: Field required", source: "tickernelz/opencode-mem#50" },
  notString: {
    verified: true,
    text: "{path}: Input should be a valid string",
    source: "simonw/llm-anthropic#23",
  },
  notInteger: {
    verified: true,
    text: "{path}: Input should be a valid integer",
    source: "strands-agents/harness-sdk#588",
  },
  notNumber: {
    text: "{path}: Input should be a valid number",
    source: "SDK 1.8.0: MessageCreateParamsBase (types of the fields)",
  },
  notBoolean: {
    text: "{path}: Input should be a valid boolean",
    source: "SDK 1.8.0: MessageCreateParamsBase (types of the fields)",
  },
  notList: {
    text: "{path}: Input should be a valid list",
    source: "SDK 1.8.0: MessageCreateParamsBase (types of the fields)",
  },
  notObject: {
    verified: true,
    text: "{path}: Input should be a valid dictionary",
    source: "anthropics/claude-code#6696",
  },
  notOneOf: {
    verified: true,
    text: "{path}: Input should be {choices}",
    source: "anthropics/claude-code#2438",
  },
  tagUnknown: {
    verified: true,
    text: "{path}: Input tag '{tag}' found using 'type' does not match any of the expected tags: {tags}",
    source: "anthropics/claude-quickstarts#251",
  },
  tooSmall: {
    verified: true,
    text: "{path}: Input should be greater than or equal to {minimum}",
    source: "SDK 1.8.0: BetaThinkingConfigEnabled (budget_tokens); danny-avila/LibreChat#7346",
  },
  tooBig: {
    text: "{path}: Input should be less than or equal to {maximum}",
    source: "SDK 1.8.0: MessageCreateParamsBase (temperature), ModelListParams (limit)",
  },
  stringTooShort: {
    verified: true,
    text: "{path}: String should have at least 1 character",
    source: "sipeed/picoclaw#1658",
  },
  stringTooLong: {
    verified: true,
    text: "{path}: String should have at most {maximum} characters",
    source: "anthropics/claude-code#96152",
  },
  pattern: {
    verified: true,
    text: "{path}: String should match pattern '{pattern}'",
    source: "docs: Define tools; anthropics/claude-code#1423",
  },
  badRole: { text: "{path}: Input should be 'user' or 'assistant'", source: "SDK 1.8.0: BetaMessageParam" },
  listTooLong: {
    text: "{path}: List should have at most {maximum} items",
    source: "SDK 1.8.0: MessageCreateParamsBase (100,000 messages)",
  },
} as const;
