/** Texts about edits, compaction, threads and bound thinking. The provider's placeholders are also here. */
export const CONTEXT_TEXTS = {
  // Edits and compaction
  clearThinkingFirst: {
    text: "context_management.edits: `clear_thinking_20251015` must be the first edit",
    source: "docs: Context editing (combined strategies)",
  },
  clearThinkingNeedsThinking: {
    verified: true,
    text: "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive",
    source: "anthropics/claude-code#86270",
  },
  compactionModel: {
    text: "compaction is not supported on this model",
    source: "docs: Compaction (supported models)",
  },
  /** Only the part of this text from `requires` on is documented. */
  compactionBeta: {
    text: "compaction: requires anthropic-beta: {beta}",
    source: "docs: On-demand compaction",
  },
  compactionCombined: {
    text: "compaction: cannot be combined with `{field}`",
    source: "docs: On-demand compaction",
  },
  compactionIncompleteTurn: {
    code: "compaction_incomplete_turn",
    text: "compaction: the last `assistant` turn is not finished",
    source: "SDK 1.8.0: CompactionIncompleteTurnError",
  },
  compactionNothing: {
    code: "compaction_nothing_to_summarize",
    text: "compaction: `messages` contains nothing to summarize",
    source: "SDK 1.8.0: CompactionNothingToSummarizeError",
  },
  compactionMisplaced: {
    code: "compaction_block_misplaced",
    text: "{path}: a `compaction` block must be the first block of the conversation",
    source: "SDK 1.8.0: CompactionBlockMisplacedError",
  },
  compactionAmbiguous: {
    code: "compaction_block_ambiguous",
    text: "{path}: `messages` contains more than one `compaction` block with content",
    source: "SDK 1.8.0: CompactionBlockAmbiguousError",
  },
  compactionSignature: {
    code: "compaction_signature_invalid",
    text: "{path}: Invalid `signature` in `compaction` block",
    source: "SDK 1.8.0: CompactionSignatureInvalidError",
  },
  compactionContent: {
    code: "compaction_content_mismatch",
    text: "{path}: the `content` of the `compaction` block does not match its `signature`",
    source: "SDK 1.8.0: CompactionContentMismatchError",
  },
  compactionToolChanges: {
    code: "compaction_tool_changes_mismatch",
    text: "{path}: the `tool_changes` of the `compaction` block differ from those that the API returned with it",
    source: "SDK 1.8.0: CompactionToolChangesMismatchError",
  },
  compactionUnavailable: {
    status: 529,
    code: "compaction_unavailable",
    text: "Compaction is temporarily unavailable. Retry the request.",
    source: "SDK 1.8.0: CompactionUnavailableError",
  },
  /** Placeholder for a tool result that an edit cleared. */
  clearedResult: {
    text: "[Tool result cleared by context management]",
    source: "docs: Context editing (a placeholder replaces a cleared result)",
  },

  // Threads
  threadsUnsupported: {
    code: "thread_unsupported_request",
    text: "thread: this request cannot be part of a thread. Send the full conversation without `thread`.",
    source: "SDK 1.8.0: ThreadUnsupportedRequestError",
  },
  threadNotFound: {
    status: 404,
    code: "thread_not_found",
    text: 'thread: No thread state was found for previous_message_id {id}. Replay the full conversation with thread type "create".',
    source: "SDK 1.8.0: ThreadNotFoundError",
  },
  threadContinued: {
    code: "thread_already_continued",
    text: "thread: {id} has already been continued. Continue from the most recent response of the thread.",
    source: "SDK 1.8.0: ThreadAlreadyContinuedError",
  },
  threadInFlight: {
    code: "thread_continue_in_flight",
    text: "thread: another request is still continuing from {id}",
    source: "SDK 1.8.0: ThreadContinueInFlightError",
  },
  threadDiffers: {
    code: "thread_fingerprint_mismatch",
    text: "thread: the request differs from the stored thread. Differing field(s): {fields}",
    source: "SDK 1.8.0: ThreadFingerprintMismatchError",
  },
  threadRepeats: {
    text: "{field}: the thread already stores this field. Omit it from a request that continues the thread.",
    source: "docs: Message threads",
  },

  // Thinking
  signatureInvalid: {
    verified: true,
    text: "{path}: Invalid `signature` in `{type}` block",
    source: "docs: Preserved thinking",
  },
  latestThinkingModified: {
    verified: true,
    text: "{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
    source: "docs: Errors, common validation errors; anthropics/claude-code#63432",
  },
  /**
   * `{sentences}` is replaced with some of the next texts. They say which beta to set, and what has changed
   * in the conversation.
   */
  thinkingBoundElsewhere: {
    verified: true,
    text: '{path}: Invalid `signature` in `{type}` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". {sentences}',
    source: "docs: Preserved thinking",
  },
  bindingNeedsBeta: {
    verified: true,
    text: "That setting requires the `{beta}` value in the `anthropic-beta` header.",
    source: "docs: Preserved thinking",
  },
  /**
   * The documentation says that the message contains a sentence about the change, but it does not quote this
   * sentence. This also applies to the texts below.
   */
  systemDiffers: {
    text: "The `system` prompt differs from when this block was created.",
    source: "docs: Thinking troubleshooting (the sentence names what changed)",
  },
  toolsDiffer: {
    text: "The `tools` list differs from when this block was created.",
    source: "docs: Thinking troubleshooting (the sentence names what changed)",
  },
  thinkingMissing: {
    text: "The `thinking` block that preceded this one when it was created is missing from this request.",
    source: "docs: Thinking troubleshooting (the sentence names what changed)",
  },
  thinkingPutBack: {
    text: "A `thinking` block before this one was not in the conversation when this block was created.",
    source: "docs: Thinking troubleshooting (the sentence names what changed)",
  },
  contentMissing: {
    text: "Content that preceded this block when it was created is missing from this request.",
    source: "docs: Thinking troubleshooting (the sentence names what changed)",
  },
  contentAdded: {
    text: "Content was added before this block after it was created.",
    source: "docs: Thinking troubleshooting (the sentence names what changed)",
  },
  olderMessageDiffers: {
    text: "A message older than `{path}` differs from when this block was created.",
    source: "docs: Thinking troubleshooting (the sentence names what changed)",
  },

  // The window
  tooLong: {
    verified: true,
    text: "prompt is too long: {tokens} tokens > {window} maximum",
    source: "docs: Context windows; earendil-works/pi#102",
  },
  tooLongWithAnswer: {
    verified: true,
    text: "input length and `max_tokens` exceed context limit: {tokens} + {maxTokens} > {window}, decrease input length or `max_tokens` and try again",
    source: "docs: Context windows; anthropics/claude-code#228",
  },
} as const;
