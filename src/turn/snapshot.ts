import type { KnownMeasures, Snapshot } from "../compaction/plan/sized.ts";
import { DECISION_PADDING } from "../tokens/measure.ts";
import type { ConversationState } from "./state.ts";

/** The conversation as a plan looks at it; results that the provider leaves out count as cleared. */
export function snapshotOf({ thread, cachedEdits, options }: ConversationState): Snapshot {
  const clearedToolUseIds = new Set(cachedEdits.edits().map(({ tool_use_id }) => tool_use_id));
  return { entries: thread.entries, clearedToolUseIds, isRecorded: options.transcript !== undefined };
}

/**
 * The most tokens that a compaction may leave for the sake of unseen results. Below the blocking limit the next call is
 * made. An estimate is compared with that limit after its padding, which only the messages get.
 */
export function limitOf(state: ConversationState): number {
  const { autoCompact, blocking } = state.thresholds;
  if (state.size().source === "usage") return Math.max(autoCompact, blocking);
  const overheadTokens = state.overheadTokens ?? state.frameTokens();
  const messageTokens = Math.max(0, blocking - overheadTokens) / DECISION_PADDING;
  return Math.max(autoCompact, Math.floor(Math.min(blocking, overheadTokens + messageTokens)));
}

/** What the turns have counted, so that a plan measures nothing again. */
export function measuredBy(state: ConversationState): KnownMeasures {
  const overheadTokens = state.overheadTokens;
  return {
    tokensOf: state.thread.measures.ofEntry,
    tokensOfBlock: state.thread.measures.ofBlock,
    context: state.size(),
    ratio: state.ratio,
    overheadTokens,
  };
}
