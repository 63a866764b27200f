/** What the server says about a call as a whole, also on demand. */
export const STATUS_TEXTS = {
  badRequest: { verified: false, text: "Bad request" },
  noBody: { verified: false, text: "No body" },
  notJson: { verified: false, text: "The request body is not valid JSON: {reason}" },
  tooDeep: { verified: false, text: "The request body is nested more than {maximum} levels deep" },
  bodyNotObject: { verified: false, text: "Input should be an object" },
  encodingUnsupported: {
    verified: false,
    code: "request_body_encoding_unsupported",
    text: 'Content-Encoding "{encoding}" is not supported.',
  },
  encodingInvalid: {
    verified: false,
    code: "request_body_encoding_invalid",
    text: "The request body is not valid {encoding}.",
  },
  tooLargeDecoded: {
    verified: true,
    status: 413,
    code: "request_body_too_large_after_decoding",
    text: "Request exceeds the maximum size",
  },
  noBilling: { verified: false, status: 402, text: "Your credit balance is too low to access the API." },
  noPermission: {
    verified: false,
    status: 403,
    text: "Your API key does not have permission to use this resource.",
  },
  notFound: { verified: false, status: 404, text: "Not found" },
  methodNotAllowed: { verified: false, status: 405, text: "Method Not Allowed" },
  requestTimeout: { verified: false, status: 408, text: "Request timed out" },
  conflict: { verified: false, status: 409, text: "Conflict" },
  /** The wire goes on with advice, which the capture elides. */
  rateLimit: {
    verified: true,
    status: 429,
    text: "This request would exceed your organization's rate limit of 50,000 input tokens per minute (org: {organization}, model: {model}). For details, refer to: https://docs.claude.com/en/api/rate-limits.",
  },
  /** Only the part before the colon is documented. */
  spendLimit: {
    verified: false,
    status: 429,
    code: "enforced_spend_limit_reached",
    text: "You have reached your API usage limits: access returns next month.",
  },
  internalError: { verified: false, status: 500, text: "Internal server error" },
  timeout: { verified: false, status: 504, text: "Request timed out" },
  overloaded: { verified: true, status: 529, text: "Overloaded" },
  cursorInvalid: { verified: false, text: "Invalid cursor: {id}" },
  twoCursors: { verified: false, text: "Only one of before_id and after_id may be given." },
} as const;
