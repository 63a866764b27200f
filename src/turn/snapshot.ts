import type { KnownMeasures, Snapshot } from "../compact/sized.ts";
import type { ConversationState } from "./state.ts";

/** The conversation as a plan looks at it; results that the provider leaves out count as cleared. */
export function snapshotOf({ thread, cachedEdits, options }: ConversationState): Snapshot {
  const clearedToolUseIds = new Set(cachedEdits.edits().map(({ tool_use_id }) => tool_use_id));
  return { entries: thread.entries, clearedToolUseIds, isRecorded: options.transcript !== undefined };
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
