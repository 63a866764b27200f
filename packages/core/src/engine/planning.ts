import {
  type CompactionPlan,
  planCompaction,
  planUnder,
  RESULT_SHARE,
} from "../compaction/plan/compaction-plan.ts";
import { MIN_RESTORE_TOKENS } from "../compaction/plan/room.ts";
import type { KnownMeasures, Snapshot } from "../compaction/plan/sized.ts";
import { continuationMessage } from "../compaction/summary/summary-message.ts";
import { DECISION_PADDING } from "../measure/tokens/measure.ts";
import { inProportion } from "../measure/window/thresholds.ts";
import type { UserEntry } from "../messages/entry.ts";
import type { Needs } from "./parts.ts";

type PlanningParts = Needs<"thread" | "gauge" | "modules" | "options">;

/** Returns the input of a plan. Results that the provider drops count as cleared. */
export function snapshotOf({ thread, modules, options }: Needs<"thread" | "modules" | "options">): Snapshot {
  const clearedToolUseIds = modules.hiddenToolUseIds();
  return { entries: thread.entries, clearedToolUseIds, isRecorded: options.transcript !== undefined };
}

/** Returns the cached counts of earlier turns, so that a plan does not measure again. */
export function cachedMeasures({ thread, gauge }: Needs<"thread" | "gauge">): KnownMeasures {
  return {
    tokensOf: thread.measures.ofEntry,
    tokensOfBlock: thread.measures.ofBlock,
    context: gauge.size(),
    ratio: gauge.ratio,
    overheadTokens: gauge.reportedOverhead,
  };
}

/** Returns a plan with a result below the threshold, or the floor that no compaction can get below. */
export function findFittingPlan(parts: PlanningParts): ReturnType<typeof planUnder> {
  const { gauge, options } = parts;
  return planUnder(snapshotOf(parts), {
    thresholdTokens: gauge.thresholds.autoCompact,
    // Without a usage report, the next turn compares the padded result with the threshold.
    padding: gauge.size().source === "usage" ? 1 : DECISION_PADDING,
    limitTokens: gauge.limitTokens,
    keepRecentTokens: options.compaction.keepRecentTokens,
    measured: cachedMeasures(parts),
  });
}

/**
 * Plans a refresh of a summary. The plan is another compaction of the conversation, as if the summary were
 * already in the conversation. Returns undefined if all new messages are kept anyway.
 */
export function refreshPlan(
  parts: Needs<"thread" | "gauge" | "options" | "newLink">,
  { kept, clearedToolUseIds }: CompactionPlan,
  summary: string,
): CompactionPlan | undefined {
  const { gauge, options, newLink } = parts;
  const content = continuationMessage({ summary, keptRecent: true, trigger: "auto" });
  const summarySoFar: UserEntry = {
    ...newLink(null),
    type: "user",
    message: { role: "user", content },
    isCompactSummary: true,
    isVisibleInTranscriptOnly: true,
  };
  try {
    return planCompaction(
      { entries: [summarySoFar, ...kept], clearedToolUseIds },
      {
        trigger: "auto",
        targetTokens: Math.floor(gauge.thresholds.autoCompact * RESULT_SHARE),
        limitTokens: gauge.limitTokens,
        keepRecentTokens: options.compaction.keepRecentTokens,
        measured: cachedMeasures(parts),
      },
    );
  } catch {
    return undefined;
  }
}

/**
 * Returns the token budget for restored content. With this budget, the result of the compaction stays well
 * below the threshold. The budget is never below the minimum, even if the result becomes larger.
 */
export function restoreBudget(
  { thresholds }: Needs<"gauge">["gauge"],
  { keptTokens, overheadTokens, countTokens }: CompactionPlan,
  summary: string,
): number {
  const room = thresholds.autoCompact * RESULT_SHARE - overheadTokens - keptTokens - countTokens(summary);
  return Math.max(inProportion(thresholds, MIN_RESTORE_TOKENS), Math.floor(room));
}
