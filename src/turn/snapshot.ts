import type { KnownMeasures, Snapshot } from "../compact/sized.ts";
import { DECISION_PADDING } from "../tokens/measure.ts";
import type { ConversationState } from "./state.ts";

/** The conversation as a plan looks at it; results that the provider leaves out count as cleared. */
export function snapshotOf({ thread, cachedEdits, options }: ConversationState): Snapshot {
  const clearedToolUseIds = new Set(cachedEdits.edits().map(({ tool_use_id }) => tool_use_id));
  return { entries: thread.entries, clearedToolUseIds, isRecorded: options.transcript !== undefined };
}

/**
 * The most tokens that a compaction may leave for the sake of unseen results. Below the blocking limit the next call is
 * made; an estimate is compared with that limit after its padding.
 */
export function limitOf(state: ConversationState): number {
  const { autoCompact, blocking } = state.thresholds;
  const padding = state.size().source === "usage" ? 1 : DECISION_PADDING;
  return Math.max(autoCompact, Math.floor(blocking / padding));
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
