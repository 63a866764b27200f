/** Texts about the content and order of messages. */
export const MESSAGE_TEXTS = {
  noMessages: {
    verified: true,
    text: "messages: at least one message is required",
    source: "langgenius/dify#25953",
  },
  firstRole: {
    verified: true,
    text: 'messages: first message must use the "user" role',
    source: "lobehub/lobehub#1601",
  },
  /** The captured texts continue with the role that was found twice. */
  rolesAlternate: {
    verified: true,
    text: 'messages: roles must alternate between "user" and "assistant"',
    source: "lobehub/lobehub#1496, #1765",
  },
  systemRole: {
    verified: true,
    text: 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
    source: "aaronrussell/anthropix#2",
  },
  systemPlacement: {
    text: "{path}: a `system` message must directly follow a `user` message, and it must be the last message or come directly before an `assistant` message",
    source: "docs: Mid-conversation system messages",
  },
  blockRole: {
    text: "{path}: `{type}` blocks are not permitted in `{role}` messages",
    source: "SDK 1.8.0: BetaUserMessageParam, BetaAssistantMessageParam, BetaSystemMessageParam",
  },
  userCitations: {
    text: "{path}: `citations` are not permitted on `text` blocks in `user` messages",
    source: "docs: Versions (2026-10-21)",
  },
  emptyText: {
    verified: true,
    text: "{root}: text content blocks must be non-empty",
    source: "miurla/morphic#83, anthropics/claude-code#59812",
  },
  blankText: {
    verified: true,
    text: "{root}: text content blocks must contain non-whitespace text",
    source: "anthropics/claude-code#23440",
  },
  emptyMessage: {
    verified: true,
    text: "{path}: all messages must have non-empty content except for the optional final assistant message",
    source: "anthropics/claude-code#3196",
  },
  unansweredUse: {
    verified: true,
    text: "{path}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
    source: "docs: Handle tool calls; anthropics/claude-code#7929",
  },
  orphanResult: {
    verified: true,
    text: "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
    source: "anthropics/claude-code#18947",
  },
  secondResult: {
    text: "{path}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}",
    source: "docs: Handling stop reasons (one `tool_result` for each `tool_use`)",
  },
  repeatedUseId: {
    verified: true,
    text: "{path}: `tool_use` ids must be unique",
    source: "anthropics/claude-code#20901",
  },
  unansweredServerUse: {
    verified: true,
    text: "`{name}` tool use with id `{id}` was found without a corresponding `{result}` block",
    source: "docs: Handling stop reasons",
  },
  orphanServerResult: {
    verified: true,
    text: "{path}: unexpected `tool_use_id` found in `{type}` blocks: {id}. Each `{type}` block must have a corresponding `{use}` block before it.",
    source: "anthropics/claude-code#65726",
  },
  finalWhitespace: {
    verified: true,
    text: "messages: final assistant content cannot end with trailing whitespace",
    source: "tailcallhq/forgecode#1872",
  },
  prefill: {
    verified: true,
    text: "This model does not support assistant message prefill. The conversation must end with a user message.",
    source: "docs: Errors, common validation errors",
  },
  thinkingLast: {
    verified: true,
    text: "{path}: The final block in an assistant message cannot be `{type}`.",
    source: "tailcallhq/forgecode#2107",
  },
  /** The real text of the API continues with a link to the documentation. */
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
    verified: true,
    text: "too many images and documents: {images} + {documents} > {maximum}",
    source: "docs: Vision, request limits; anthropics/claude-code#23392",
  },

  // Cache marks
  tooManyMarks: {
    verified: true,
    text: "A maximum of {maximum} blocks with cache_control may be provided. Found {count}.",
    source: "docs: Prompt caching; tghamm/Anthropic.SDK#50",
  },
  markOnEmptyText: {
    verified: true,
    text: "{path}: cache_control cannot be set for empty text blocks",
    source: "docs: Prompt caching (what cannot be cached); anthropics/claude-code#54013",
  },
  ttlOrder: {
    verified: true,
    text: "{path}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
    source: "docs: Prompt caching (mixing TTLs); cnighswonger/claude-code-cache-fix#44",
  },
  automaticMarkTtl: {
    text: "cache_control.ttl: the last block already has a cache_control with a different ttl",
    source: "docs: Prompt caching, automatic caching",
  },
} as const;
