import { ApiRefusal } from "../exchange.ts";

/**
 * Every text of this folder. `verified` ones are quoted by the documentation or captured from the API;
 * `unverified` ones stand for texts that nobody published: the code beside them is the fact, not the wording.
 */
export const BETAS = {
  contextManagement: "context-management-2025-06-27",
  thresholdCompaction: "compact-2026-01-12",
  onDemandCompaction: "compact-2026-09-04",
  bindingControls: "thinking-binding-controls-2026-08-01",
  threads: "message-threads-2026-08-12",
  stopAtWindow: "model-context-window-exceeded-2025-08-26",
} as const;

export const VERIFIED = {
  invalidSignature: (path: string, kind: string): string =>
    `${path}: Invalid \`signature\` in \`${kind}\` block`,
  boundElsewhere: (path: string, kind: string): string =>
    `${path}: Invalid \`signature\` in \`${kind}\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`,
  settingNeedsBeta:
    "That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.",
  thinkingMissing:
    "The `thinking` block that preceded this one when it was created is missing from this request.",
  contentMissing: "Content that preceded this block when it was created is missing from this request.",
  olderMessageDiffers: (path: string): string =>
    `A message older than \`${path}\` differs from when this block was created.`,
  latestThinkingModified: (path: string): string =>
    `${path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
  tooLong: (tokens: number, maximum: number): string =>
    `prompt is too long: ${tokens} tokens > ${maximum} maximum`,
  tooLongWithAnswer: (tokens: number, maxTokens: number, window: number): string =>
    `input length and \`max_tokens\` exceed context limit: ${tokens} + ${maxTokens} > ${window}, decrease input length or \`max_tokens\` and try again`,
  extraInput: (field: string): string => `${field}: Extra inputs are not permitted`,
  compactionMisplaced:
    "`compaction` block must be sent first, in place of the messages it summarizes; remove those messages",
} as const;

export const UNVERIFIED = {
  /** What stands in the place of a cleared result; the API's own wording is not published. */
  clearedResult: "[Tool result cleared by context management]",
  systemDiffers: "The `system` prompt differs from when this block was created.",
  toolsDiffer: "The `tools` list differs from when this block was created.",
  thinkingPutBack: "A `thinking` block before this one was not in the conversation when it was created.",
  contentAdded: "Content was added before this block after it was created.",
  compactionNotExpected: (path: string): string =>
    `${path}: Input tag 'compaction' found using 'type' is not one of the expected content block types`,
  compactionEmpty: (path: string): string =>
    `${path}.compaction.content: compaction content must be non-empty or null`,
  compactionNeedsBeta: "compaction: the compaction parameter requires anthropic-beta: compact-2026-09-04",
  compactionModel: (model: string): string => `compaction is not supported on ${model}`,
  compactionType: "compaction.type: Input should be 'summarize'",
  compactionInstructions: (maximum: number): string =>
    `compaction.instructions: String should have at most ${maximum} characters`,
  compactionCombined: (field: string): string => `compaction: cannot be combined with \`${field}\``,
  compactionTrigger: (least: number): string =>
    `context_management.edits.compact_20260112.trigger.value: Input should be greater than or equal to ${least}`,
  compactionAmbiguous:
    "messages: more than one `compaction` block with content was sent. Send only the block the conversation returned last.",
  compactionContent: (path: string): string =>
    `${path}: the \`content\` of the \`compaction\` block differs from the text its \`signature\` recorded`,
  compactionToolChanges: (path: string): string =>
    `${path}: the \`tool_changes\` of the \`compaction\` block differ from what was returned with the block`,
  compactionSignature: (path: string): string => `${path}: Invalid \`signature\` in \`compaction\` block`,
  compactionIncompleteTurn: (path: string): string =>
    `${path}: the conversation to compact ends on an \`assistant\` turn that is not finished`,
  compactionNothing: "messages: there is no `user` or `assistant` content to summarize",
  compactionUnavailable: "Compaction is temporarily unavailable. Retry the request.",
  threadNotFound: (id: string): string =>
    `thread: No thread state was found for previous_message_id ${id}. Replay the full conversation with thread type "create".`,
  threadContinued: (id: string): string =>
    `thread: ${id} has already been continued. Continue from the most recent response of the thread.`,
  threadInFlight: (id: string): string => `thread: another request is still continuing from ${id}`,
  threadDiffers: (fields: readonly string[]): string =>
    `thread: the request differs from the stored thread; differing field(s): ${fields.join(", ")}`,
  threadRepeats: (field: string): string =>
    `${field}: the thread keeps this field; leave it out of a request that continues the thread`,
  threadUnsupported: (what: readonly string[]): string =>
    what.length === 0
      ? "thread: threads are not supported for this request; send the full conversation without `thread`"
      : `thread: not supported together with ${what.join(", ")}; send the full conversation without \`thread\``,
} as const;

/** The 400 of nearly every rule, with the code that clients are told to branch on. */
export function invalidRequest(
  message: string,
  code?: string,
  more: Record<string, unknown> = {},
): ApiRefusal {
  const details = code === undefined ? {} : { details: { error_code: code, ...more } };
  return new ApiRefusal(400, "invalid_request_error", message, details);
}
