/**
 * A text of the API, with placeholders such as `{name}`. `verified` texts are quoted from an official page or
 * type file, or were captured from the real API. All other texts are plausible wordings of known rules, so do
 * not match on them.
 */
export interface TextRow {
  /** True for a text that is quoted or captured. */
  readonly verified?: true;
  readonly text: string;
  /** HTTP status of the error with this text. Default: 400. */
  readonly status?: number;
  /** `error_code` in the error's details. Clients should decide by this code, not by the text. */
  readonly code?: string;
  /** Public source of the rule or of the text: a page of the documentation, the SDK, or an issue. */
  readonly source?: string;
}

/** Error texts about a whole call. Faults that a test triggers use them too. */
const STATUS_TEXTS = {
  badRequest: { text: "Bad request" },
  noBody: { text: "No body" },
  notJson: { text: "The request body is not valid JSON: {reason}" },
  tooDeep: { text: "The request body is nested more than {maximum} levels deep" },
  bodyNotObject: { text: "Input should be an object" },
  encodingUnsupported: {
    code: "request_body_encoding_unsupported",
    text: 'Content-Encoding "{encoding}" is not supported.',
  },
  encodingInvalid: {
    code: "request_body_encoding_invalid",
    text: "The request body is not valid {encoding}.",
  },
  tooLargeDecoded: {
    verified: true,
    status: 413,
    code: "request_body_too_large_after_decoding",
    text: "Request exceeds the maximum size",
  },
  noBilling: { status: 402, text: "Your credit balance is too low to access the API." },
  noPermission: { status: 403, text: "Your API key does not have permission to use this resource." },
  notFound: { status: 404, text: "Not found" },
  methodNotAllowed: { status: 405, text: "Method Not Allowed" },
  requestTimeout: { status: 408, text: "Request timed out" },
  conflict: { status: 409, text: "Conflict" },
  /** The real text of the API continues with advice, which the capture does not contain. */
  rateLimit: {
    verified: true,
    status: 429,
    text: "This request would exceed your organization's rate limit of 50,000 input tokens per minute (org: {organization}, model: {model}). For details, refer to: https://docs.claude.com/en/api/rate-limits.",
  },
  /** Only the part of this text before the colon is documented. */
  spendLimit: {
    status: 429,
    code: "enforced_spend_limit_reached",
    text: "You have reached your API usage limits: you will regain access next month.",
  },
  internalError: { status: 500, text: "Internal server error" },
  timeout: { status: 504, text: "Request timed out" },
  overloaded: { verified: true, status: 529, text: "Overloaded" },
  cursorInvalid: { text: "Invalid cursor: {id}" },
  twoCursors: { text: "Only one of before_id and after_id may be given." },
} as const;

/** Texts about headers, and about the shape and fields of the body. */
export const REQUEST_TEXTS = {
  // Headers and status
  keyMissing: { status: 401, text: "x-api-key header is required" },
  keyInvalid: { status: 401, text: "invalid x-api-key" },
  versionMissing: { verified: true, text: "anthropic-version: header is required" },
  versionUnknown: { text: 'anthropic-version: "{version}" is not a valid version' },
  contentType: { text: "content-type: Input should be 'application/json'" },
  betaUnknown: {
    verified: true,
    text: "Unexpected value(s) {values} for the `anthropic-beta` header. Please consult our documentation at platform.claude.com/docs or try again without the header.",
  },
  /** The API answers to a retired name as to an unknown one. */
  modelUnknown: {
    verified: true,
    status: 404,
    text: "model: {model}",
    source: "docs: Model deprecations; SDK 1.8.0: type Model, and changelog (retired models removed)",
  },
  tooManyBytes: { verified: true, status: 413, text: "Request exceeds the maximum size" },

  // Shape
  extraField: { verified: true, text: "{path}: Extra inputs are not permitted" },
  fieldRequired: { text: "{path}: Field required" },
  notString: { text: "{path}: Input should be a valid string" },
  notInteger: { text: "{path}: Input should be a valid integer" },
  notNumber: { text: "{path}: Input should be a valid number" },
  notBoolean: { text: "{path}: Input should be a valid boolean" },
  notList: { text: "{path}: Input should be a valid list" },
  notObject: { text: "{path}: Input should be a valid dictionary" },
  notOneOf: { text: "{path}: Input should be {choices}" },
  tagUnknown: {
    text: "{path}: Input tag '{tag}' found using 'type' does not match any of the expected tags: {tags}",
  },
  tooSmall: { verified: true, text: "{path}: Input should be greater than or equal to {minimum}" },
  tooBig: { text: "{path}: Input should be less than or equal to {maximum}" },
  stringTooShort: { text: "{path}: String should have at least 1 character" },
  stringTooLong: { text: "{path}: String should have at most {maximum} characters" },
  pattern: { text: "{path}: String should match pattern '{pattern}'" },
  badRole: { text: "{path}: Input should be 'user' or 'assistant'" },
  listTooLong: { text: "{path}: List should have at most {maximum} items" },

  // Fields of the request
  sampling: { text: "`{field}` may only be set to its default for this model." },
  maxTokensCap: {
    verified: true,
    text: "max_tokens: {maxTokens} > {maximum}, which is the maximum allowed number of output tokens for {model}",
  },
  prewarm: { text: "max_tokens: 0 cannot be combined with `{field}`." },
  budgetOverMaxTokens: { verified: true, text: "`max_tokens` must be greater than `thinking.budget_tokens`" },
  thinkingEnabled: {
    verified: true,
    text: '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
  },
  /** Only the first sentence of this text is documented. */
  thinkingDisabled: {
    text: '"thinking.type.disabled" is not supported for this model. Use "output_config.effort" to control thinking behavior.',
  },
  thinkingDisabledAtEffort: {
    verified: true,
    text: "output_config.effort '{effort}' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking.",
    source: "anthropics/claude-code#81084",
  },
  thinkingWithForcedTool: {
    verified: true,
    text: "Thinking may not be enabled when tool_choice forces tool use.",
    source: "docs: Extended thinking, feature compatibility; mastra-ai/mastra#7507",
  },
  thinkingTemperature: {
    verified: true,
    text: "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation at https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking#important-considerations-when-using-extended-thinking",
    source: "docs: Extended thinking, feature compatibility; MartialBE/one-hub#529",
  },
  thinkingTopP: {
    text: "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.",
    source: "docs: Extended thinking, feature compatibility (top_p from 0.95 to 1)",
  },
  thinkingTopK: {
    text: "`top_k` must be unset when thinking is enabled.",
    source: "docs: Extended thinking, feature compatibility",
  },
  effortUnsupported: {
    verified: true,
    text: "This model does not support the effort parameter.",
    source: "docs: Effort, supported models; anthropics/claude-code#30010",
  },
  effortLevel: {
    text: "This model does not support effort level '{effort}'. Supported levels: {levels}.",
    source: "docs: Effort; SkillfulAgents/SuperAgent#1142 (levels that the API refused)",
  },
  stopSequenceBlank: {
    verified: true,
    text: "stop_sequences: each stop sequence must contain non-whitespace",
    source: "BerriAI/litellm#3286",
  },
  stopSequenceEmpty: {
    verified: true,
    text: "stop_sequences: each stop sequence must be non-empty",
    source: "MegaGrindStone/mcp-web-ui#5",
  },
  temperatureWithTopP: {
    verified: true,
    text: "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
    source:
      "BerriAI/litellm#15097, open-webui/pipelines#546 (since 4.1), skydiscover-ai/skydiscover#15 (4.6)",
  },
  citationsWithFormat: {
    text: "output_config.format: citations cannot be used together with structured outputs",
    source: "docs: Citations (the API returns a 400 error); Structured outputs, feature compatibility",
  },
  schemaOpen: {
    verified: true,
    text: "{path}: For 'object' type, 'additionalProperties' must be explicitly set to false",
    source: "docs: Structured outputs, JSON schema limitations; captured for tools and for output_config",
  },
  domainsCombined: {
    text: "{path}: `allowed_domains` cannot be used alongside `blocked_domains`",
    source: "SDK 1.8.0: WebSearchTool20250305.allowed_domains",
  },
  deferredToolMark: {
    verified: true,
    text: "Tool '{name}' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.",
    source: "router-for-me/CLIProxyAPI#4561, Wei-Shaw/sub2api#4990",
  },
  toolReferenceUnknown: {
    verified: true,
    text: "Tool reference '{name}' not found in available tools",
    source: "docs: Tool search tool, HTTP errors; anthropics/claude-code#81863",
  },
  thinkingAdaptive: { verified: true, text: "adaptive thinking is not supported on this model" },
  thinkingBetweenTools: { text: '"thinking.type.between_tools" is not supported for this model.' },
  forcedTool: {
    verified: true,
    text: 'tool_choice: type "tool" and "any" are not supported for this model.',
  },
  choiceWithoutTools: { text: "tool_choice: may only be specified while providing tools" },
  chosenToolUnknown: { text: "tool_choice: Tool '{name}' not found in provided tools" },
  toolNamesRepeated: { text: "tools: Tool names must be unique." },
  allToolsDeferred: { verified: true, text: "All tools have defer_loading: true" },
  schemaComposed: { text: "{path}: input_schema does not support oneOf, allOf, or anyOf at the top level" },
  toolsMissing: { text: "Requests which include `tool_use` or `tool_result` blocks must define tools." },
  toolReference: {
    code: "tool_reference_unresolved",
    text: "{path}: tool `{name}` is not defined at this point of the conversation",
  },
} as const;

/** Texts about the content and order of messages. */
export const MESSAGE_TEXTS = {
  noMessages: { verified: true, text: "messages: at least one message is required" },
  firstRole: { verified: true, text: 'messages: first message must use the "user" role' },
  rolesAlternate: { verified: true, text: 'messages: roles must alternate between "user" and "assistant"' },
  systemRole: {
    verified: true,
    text: 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
  },
  systemPlacement: {
    text: "{path}: a `system` message must directly follow a `user` message, and it must be the last message or come directly before an `assistant` message",
  },
  blockRole: { text: "{path}: `{type}` blocks are not permitted in `{role}` messages" },
  userCitations: { text: "{path}: `citations` are not permitted on `text` blocks in `user` messages" },
  emptyText: { verified: true, text: "{root}: text content blocks must be non-empty" },
  blankText: { verified: true, text: "{root}: text content blocks must contain non-whitespace text" },
  emptyMessage: {
    verified: true,
    text: "{path}: all messages must have non-empty content except for the optional final assistant message",
  },
  unansweredUse: {
    verified: true,
    text: "{path}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
  },
  orphanResult: {
    verified: true,
    text: "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
  },
  secondResult: {
    text: "{path}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}",
  },
  repeatedUseId: { verified: true, text: "{path}: `tool_use` ids must be unique" },
  unansweredServerUse: {
    verified: true,
    text: "`{name}` tool use with id `{id}` was found without a corresponding `{result}` block",
  },
  orphanServerResult: {
    verified: true,
    text: "{path}: unexpected `tool_use_id` found in `{type}` blocks: {id}. Each `{type}` block must have a corresponding `{use}` block before it.",
  },
  finalWhitespace: {
    verified: true,
    text: "messages: final assistant content cannot end with trailing whitespace",
  },
  prefill: {
    verified: true,
    text: "This model does not support assistant message prefill. The conversation must end with a user message.",
  },
  thinkingLast: {
    verified: true,
    text: "{path}: The final block in an assistant message cannot be `{type}`.",
  },
  /**
   * The real text of the API continues with a link to the documentation, which the capture does not contain.
   */
  thinkingFirst: {
    verified: true,
    source: "docs: Extended thinking, feature compatibility (no prefill); Aider-AI/aider#3820",
    text: "{path}.type: Expected `thinking` or `redacted_thinking`, but found `{type}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.",
  },
  imageUnreadable: {
    verified: true,
    text: "Could not process image",
    source: "anthropics/claude-code#8647, #56511",
  },
  imageOtherType: {
    verified: true,
    text: "{path}.image.source.base64.data: Image does not match the provided media type {type}",
    source: "anthropics/claude-code#6300",
  },
  imageNotBase64: {
    verified: true,
    text: "{path}.image.source.base64: invalid base64 data",
    source: "anthropics/anthropic-sdk-typescript#603, musistudio/claude-code-router#960",
  },
  imageEmpty: {
    verified: true,
    text: "{path}.image.source.base64: image cannot be empty",
    source: "anthropics/claude-code#12750",
  },
  imageTooLarge: {
    verified: true,
    text: "{path}.image.source.base64: image exceeds 10 MB maximum: {bytes} bytes > {maximum} bytes",
    source:
      "kolega-ai/kolega-code#354 (10 MiB of base64); anthropics/claude-code#19631 (the same text, with 5 MB until 2026)",
  },
  imageSide: {
    verified: true,
    text: "{path}.image.source.base64.data: At least one of the image dimensions exceed max allowed size: {maximum} pixels",
    source: "docs: Vision, basics and limits; anthropics/claude-code#4778",
  },
  imageSideOfMany: {
    verified: true,
    text: "{path}.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: {maximum} pixels",
    source: "docs: Vision, basics and limits (more than 20 images); anthropics/claude-code#9375",
  },
  pdfInvalid: {
    verified: true,
    text: "{path}.pdf.source.base64.data: The PDF specified was not valid.",
    source: "anthropics/claude-code#5174, link-assistant/hive-mind#774 (a page of HTML)",
  },
  tooManyMedia: {
    text: "messages: at most {maximum} images and documents are allowed for this model. Found {count}.",
  },

  // Cache marks
  tooManyMarks: {
    verified: true,
    text: "A maximum of {maximum} blocks with cache_control may be provided. Found {count}.",
  },
  markOnEmptyText: { verified: true, text: "{path}: cache_control cannot be set for empty text blocks" },
  ttlOrder: {
    verified: true,
    text: "{path}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.",
  },
  automaticMarkTtl: {
    text: "cache_control.ttl: the last block already has a cache_control with a different ttl",
  },
} as const;

/** Texts about edits, compaction, threads and bound thinking. The provider's placeholders are also here. */
export const CONTEXT_TEXTS = {
  // Edits and compaction
  clearThinkingFirst: { text: "context_management.edits: `clear_thinking_20251015` must be the first edit" },
  clearThinkingNeedsThinking: {
    verified: true,
    text: "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive",
  },
  compactionModel: { text: "compaction is not supported on this model" },
  /** Only the part of this text from `requires` on is documented. */
  compactionBeta: { text: "compaction: requires anthropic-beta: {beta}" },
  compactionCombined: { text: "compaction: cannot be combined with `{field}`" },
  compactionIncompleteTurn: {
    code: "compaction_incomplete_turn",
    text: "compaction: the last `assistant` turn is not finished",
  },
  compactionNothing: {
    code: "compaction_nothing_to_summarize",
    text: "compaction: `messages` contains nothing to summarize",
  },
  compactionMisplaced: {
    code: "compaction_block_misplaced",
    text: "{path}: a `compaction` block must be the first block of the conversation",
  },
  compactionAmbiguous: {
    code: "compaction_block_ambiguous",
    text: "{path}: `messages` contains more than one `compaction` block with content",
  },
  compactionSignature: {
    code: "compaction_signature_invalid",
    text: "{path}: Invalid `signature` in `compaction` block",
  },
  compactionContent: {
    code: "compaction_content_mismatch",
    text: "{path}: the `content` of the `compaction` block does not match its `signature`",
  },
  compactionToolChanges: {
    code: "compaction_tool_changes_mismatch",
    text: "{path}: the `tool_changes` of the `compaction` block differ from those that the API returned with it",
  },
  compactionUnavailable: {
    status: 529,
    code: "compaction_unavailable",
    text: "Compaction is temporarily unavailable. Retry the request.",
  },
  /** Placeholder for a tool result that an edit cleared. */
  clearedResult: { text: "[Tool result cleared by context management]" },

  // Threads
  threadsUnsupported: {
    code: "thread_unsupported_request",
    text: "thread: this request cannot be part of a thread. Send the full conversation without `thread`.",
  },
  threadNotFound: {
    status: 404,
    code: "thread_not_found",
    text: 'thread: No thread state was found for previous_message_id {id}. Replay the full conversation with thread type "create".',
  },
  threadContinued: {
    code: "thread_already_continued",
    text: "thread: {id} has already been continued. Continue from the most recent response of the thread.",
  },
  threadInFlight: {
    code: "thread_continue_in_flight",
    text: "thread: another request is still continuing from {id}",
  },
  threadDiffers: {
    code: "thread_fingerprint_mismatch",
    text: "thread: the request differs from the stored thread. Differing field(s): {fields}",
  },
  threadRepeats: {
    text: "{field}: the thread already stores this field. Omit it from a request that continues the thread.",
  },

  // Thinking
  signatureInvalid: { verified: true, text: "{path}: Invalid `signature` in `{type}` block" },
  latestThinkingModified: {
    verified: true,
    text: "{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
  },
  /**
   * `{sentences}` is replaced with some of the next texts. They say which beta to set, and what has changed
   * in the conversation.
   */
  thinkingBoundElsewhere: {
    verified: true,
    text: '{path}: Invalid `signature` in `{type}` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". {sentences}',
  },
  bindingNeedsBeta: {
    verified: true,
    text: "That setting requires the `{beta}` value in the `anthropic-beta` header.",
  },
  /**
   * The documentation says that the message contains a sentence about the change, but it does not quote this
   * sentence. This also applies to the texts below.
   */
  systemDiffers: { text: "The `system` prompt differs from when this block was created." },
  toolsDiffer: { text: "The `tools` list differs from when this block was created." },
  thinkingMissing: {
    text: "The `thinking` block that preceded this one when it was created is missing from this request.",
  },
  thinkingPutBack: {
    text: "A `thinking` block before this one was not in the conversation when this block was created.",
  },
  contentMissing: {
    text: "Content that preceded this block when it was created is missing from this request.",
  },
  contentAdded: { text: "Content was added before this block after it was created." },
  olderMessageDiffers: { text: "A message older than `{path}` differs from when this block was created." },

  // The window
  tooLong: { verified: true, text: "prompt is too long: {tokens} tokens > {window} maximum" },
  tooLongWithAnswer: {
    verified: true,
    text: "input length and `max_tokens` exceed context limit: {tokens} + {maxTokens} > {window}, decrease input length or `max_tokens` and try again",
  },
} as const;

type Texts = typeof STATUS_TEXTS & typeof REQUEST_TEXTS & typeof MESSAGE_TEXTS & typeof CONTEXT_TEXTS;

/** Every text that the simulated API writes: errors and placeholders. */
export const TEXTS: Texts = { ...STATUS_TEXTS, ...REQUEST_TEXTS, ...MESSAGE_TEXTS, ...CONTEXT_TEXTS };

export type TextName = keyof Texts;

export interface UnverifiedText {
  readonly name: TextName;
  readonly text: string;
}

/** Texts that are not verified. The documentation lists them, and tests must not depend on them. */
export const UNVERIFIED_TEXTS: readonly UnverifiedText[] = Object.entries<TextRow>(TEXTS)
  .filter(([, { verified }]) => !verified)
  .map(([name, { text }]) => ({ name: name as TextName, text }));
