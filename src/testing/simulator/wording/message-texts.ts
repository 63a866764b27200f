/** On what messages hold, and on how they follow on each other. */
export const MESSAGE_TEXTS = {
  noMessages: { verified: true, text: "messages: at least one message is required" },
  firstRole: { verified: true, text: 'messages: first message must use the "user" role' },
  rolesAlternate: {
    verified: true,
    text: 'messages: roles must alternate between "user" and "assistant"',
  },
  systemRole: {
    verified: true,
    text: 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
  },
  systemPlacement: {
    verified: false,
    text: "{path}: a `system` message must directly follow a `user` message and be last or be followed by an `assistant` message",
  },
  blockRole: { verified: false, text: "{path}: `{type}` blocks are not permitted in `{role}` messages" },
  userCitations: {
    verified: false,
    text: "{path}: `citations` are not permitted on `text` blocks in `user` messages",
  },
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
    verified: false,
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
  /** The wire adds a link to the documentation, which the capture elides. */
  thinkingFirst: {
    verified: true,
    text: "{path}.type: Expected `thinking` or `redacted_thinking`, but found `{type}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.",
  },
  tooManyMedia: {
    verified: false,
    text: "messages: a request may hold {maximum} images and documents at most for this model. Found {count}.",
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
    verified: false,
    text: "cache_control.ttl: the last block already has a cache_control of another ttl",
  },
} as const;
