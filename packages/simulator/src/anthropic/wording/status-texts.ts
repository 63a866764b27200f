/** Error texts about a whole call. Faults that a test triggers use them too. */
export const STATUS_TEXTS = {
  badRequest: { text: "Bad request", source: "docs: Errors, HTTP errors" },
  noBody: { text: "No body", source: "SDK 1.8.0: MessageCreateParamsBase (required fields)" },
  /** The reason is that of the simulator's parser, not that of the API. */
  notJson: {
    verified: true,
    text: "The request body is not valid JSON: {reason}",
    source: "anthropics/claude-code#8165, promptfoo/promptfoo#4489",
  },
  tooDeep: { text: "The request body is nested more than {maximum} levels deep" },
  bodyNotObject: { text: "Input should be an object", source: "SDK 1.8.0: MessageCreateParamsBase" },
  encodingUnsupported: {
    code: "request_body_encoding_unsupported",
    text: 'Content-Encoding "{encoding}" is not supported.',
    source: "SDK 1.8.0: RequestBodyEncodingUnsupportedError",
  },
  encodingInvalid: {
    code: "request_body_encoding_invalid",
    text: "The request body is not valid {encoding}.",
    source: "SDK 1.8.0: RequestBodyEncodingInvalidError",
  },
  tooLargeDecoded: {
    status: 413,
    code: "request_body_too_large_after_decoding",
    text: "Request exceeds the maximum size",
    source: "SDK 1.8.0: RequestBodyTooLargeAfterDecodingError",
  },
  noBilling: {
    status: 402,
    text: "Your credit balance is too low to access the API.",
    source: "docs: Errors, HTTP errors",
  },
  noPermission: {
    status: 403,
    text: "Your API key does not have permission to use this resource.",
    source: "docs: Errors, HTTP errors",
  },
  notFound: { status: 404, text: "Not found", source: "docs: Errors, HTTP errors" },
  methodNotAllowed: { status: 405, text: "Method Not Allowed" },
  requestTimeout: {
    status: 408,
    text: "Request timed out",
    source: "SDK 1.8.0: Anthropic (its client repeats a request after a 408)",
  },
  conflict: { status: 409, text: "Conflict", source: "docs: Errors, HTTP errors" },
  /** The real text of the API continues with advice. */
  rateLimit: {
    verified: true,
    status: 429,
    text: "This request would exceed your organization's rate limit of 50,000 input tokens per minute (org: {organization}, model: {model}). For details, refer to: https://docs.claude.com/en/api/rate-limits.",
    source: "docs: Rate limits; continuedev/continue#10425",
  },
  /** Only the part of this text before the colon is documented. */
  spendLimit: {
    status: 429,
    code: "enforced_spend_limit_reached",
    text: "You have reached your API usage limits: you will regain access next month.",
    source: "docs: Rate limits; SDK 1.8.0: EnforcedSpendLimitReachedError",
  },
  internalError: {
    verified: true,
    status: 500,
    text: "Internal server error",
    source: "docs: Errors, HTTP errors; anthropics/claude-code#91800",
  },
  timeout: { status: 504, text: "Request timed out", source: "docs: Errors, HTTP errors" },
  overloaded: {
    verified: true,
    status: 529,
    text: "Overloaded",
    source: "docs: Errors, HTTP errors; anthropics/anthropic-sdk-typescript#616",
  },
  cursorInvalid: { text: "Invalid cursor: {id}" },
  twoCursors: { text: "Only one of before_id and after_id may be given." },
} as const;
