/** On edits, compaction, threads and bound thinking, and what the provider writes in the place of things. */
export const CONTEXT_TEXTS = {
  // Edits and compaction
  clearThinkingFirst: {
    verified: false,
    text: "context_management.edits: `clear_thinking_20251015` must be the first edit",
  },
  clearThinkingNeedsThinking: {
    verified: true,
    text: "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive",
  },
  compactionModel: { verified: false, text: "compaction is not supported on this model" },
  /** Only the part from `requires` on is documented. */
  compactionBeta: { verified: false, text: "compaction: requires anthropic-beta: {beta}" },
  compactionCombined: { verified: false, text: "compaction: cannot be combined with `{field}`" },
  compactionIncompleteTurn: {
    verified: false,
    code: "compaction_incomplete_turn",
    text: "compaction: the last `assistant` turn is not finished",
  },
  compactionNothing: {
    verified: false,
    code: "compaction_nothing_to_summarize",
    text: "compaction: `messages` holds nothing to summarize",
  },
  compactionMisplaced: {
    verified: false,
    code: "compaction_block_misplaced",
    text: "{path}: a `compaction` block must be the first block of the conversation",
  },
  compactionAmbiguous: {
    verified: false,
    code: "compaction_block_ambiguous",
    text: "{path}: `messages` holds more than one `compaction` block with content",
  },
  compactionSignature: {
    verified: false,
    code: "compaction_signature_invalid",
    text: "{path}: Invalid `signature` in `compaction` block",
  },
  compactionContent: {
    verified: false,
    code: "compaction_content_mismatch",
    text: "{path}: the `content` of the `compaction` block differs from the text its `signature` recorded",
  },
  compactionToolChanges: {
    verified: false,
    code: "compaction_tool_changes_mismatch",
    text: "{path}: the `tool_changes` of the `compaction` block differ from what was returned with the block",
  },
  compactionUnavailable: {
    verified: false,
    status: 529,
    code: "compaction_unavailable",
    text: "Compaction is temporarily unavailable. Retry the request.",
  },
  /** Stands in the place of a tool result that an edit cleared. */
  clearedResult: { verified: false, text: "[Tool result cleared by context management]" },

  // Threads
  threadsUnsupported: {
    verified: false,
    code: "thread_unsupported_request",
    text: "thread: this request cannot be part of a thread. Send the full conversation without `thread`.",
  },
  threadNotFound: {
    verified: false,
    status: 404,
    code: "thread_not_found",
    text: 'thread: No thread state was found for previous_message_id {id}. Replay the full conversation with thread type "create".',
  },
  threadContinued: {
    verified: false,
    code: "thread_already_continued",
    text: "thread: {id} has already been continued. Continue from the most recent response of the thread.",
  },
  threadInFlight: {
    verified: false,
    code: "thread_continue_in_flight",
    text: "thread: another request is still continuing from {id}",
  },
  threadDiffers: {
    verified: false,
    code: "thread_fingerprint_mismatch",
    text: "thread: the request differs from the stored thread; differing field(s): {fields}",
  },
  threadRepeats: {
    verified: false,
    text: "{field}: the thread keeps this field; leave it out of a request that continues the thread",
  },

  // Thinking
  signatureInvalid: { verified: true, text: "{path}: Invalid `signature` in `{type}` block" },
  latestThinkingModified: {
    verified: true,
    text: "{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
  },
  /** The sentences that follow say what has to be set for that, and what has changed. */
  thinkingBoundElsewhere: {
    verified: true,
    text: '{path}: Invalid `signature` in `{type}` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". {sentences}',
  },
  bindingNeedsBeta: {
    verified: true,
    text: "That setting requires the `{beta}` value in the `anthropic-beta` header.",
  },
  /** That such a sentence follows is documented, its wording is not: this one and those below. */
  systemDiffers: {
    verified: false,
    text: "The `system` prompt differs from when this block was created.",
  },
  toolsDiffer: { verified: false, text: "The `tools` list differs from when this block was created." },
  thinkingMissing: {
    verified: false,
    text: "The `thinking` block that preceded this one when it was created is missing from this request.",
  },
  thinkingPutBack: {
    verified: false,
    text: "A `thinking` block before this one was not in the conversation when it was created.",
  },
  contentMissing: {
    verified: false,
    text: "Content that preceded this block when it was created is missing from this request.",
  },
  contentAdded: {
    verified: false,
    text: "Content was added before this block after it was created.",
  },
  olderMessageDiffers: {
    verified: false,
    text: "A message older than `{path}` differs from when this block was created.",
  },

  // The window
  tooLong: { verified: true, text: "prompt is too long: {tokens} tokens > {window} maximum" },
  tooLongWithAnswer: {
    verified: true,
    text: "input length and `max_tokens` exceed context limit: {tokens} + {maxTokens} > {window}, decrease input length or `max_tokens` and try again",
  },
} as const;
