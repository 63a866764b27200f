import { type CompactionPlan, planCompaction, RESULT_SHARE } from "../compaction/plan/compaction-plan.ts";
import type { UserEntry } from "../conversation/entry.ts";
import { continuationMessage } from "../summary/continuation.ts";
import { limitOf, measuredBy } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";

/**
 * Brings a summary up to date with what came since: the conversation as if the summary stood in it already, compacted
 * once more. Undefined where nothing came that is not kept anyway.
 */
export function refreshPlan(
  state: ConversationState,
  { kept, clearedToolUseIds }: CompactionPlan,
  summary: string,
): CompactionPlan | undefined {
  const { keepRecentTokens } = state.options.compaction;
  const targetTokens = Math.floor(state.thresholds.autoCompact * RESULT_SHARE);
  try {
    return planCompaction(
      { entries: [summarySoFar(state, summary), ...kept], clearedToolUseIds },
      {
        trigger: "auto",
        targetTokens,
        limitTokens: limitOf(state),
        keepRecentTokens,
        measured: measuredBy(state),
      },
    );
  } catch {
    return undefined;
  }
}

/** As the summariser would read it in a conversation that had been compacted with it. */
function summarySoFar(state: ConversationState, summary: string): UserEntry {
  const content = continuationMessage({ summary, keptRecent: true, trigger: "auto" });
  return {
    ...state.newLink(null),
    type: "user",
    message: { role: "user", content },
    isCompactSummary: true,
    isVisibleInTranscriptOnly: true,
  };
}
