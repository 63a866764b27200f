import {
  type CompactionPlan,
  planCompaction,
  planUnder,
  RESULT_SHARE,
} from "../compaction/plan/compaction-plan.ts";
import { LEAST_RESTORE_TOKENS } from "../compaction/plan/room.ts";
import type { KnownMeasures, Snapshot } from "../compaction/plan/sized.ts";
import { continuationMessage } from "../compaction/summary/summary-message.ts";
import { DECISION_PADDING } from "../measure/tokens/measure.ts";
import { inProportion } from "../measure/window/thresholds.ts";
import type { UserEntry } from "../messages/entry.ts";
import type { Needs } from "./parts.ts";

type Planned = Needs<"thread" | "gauge" | "modules" | "options">;

/** The conversation as a plan looks at it; results that the provider leaves out count as cleared. */
export function snapshotOf({ thread, modules, options }: Needs<"thread" | "modules" | "options">): Snapshot {
  const clearedToolUseIds = modules.hiddenToolUseIds();
  return { entries: thread.entries, clearedToolUseIds, isRecorded: options.transcript !== undefined };
}

/** The counts of the turns so far, so that a plan measures nothing again. */
export function measuredBy({ thread, gauge }: Needs<"thread" | "gauge">): KnownMeasures {
  return {
    tokensOf: thread.measures.ofEntry,
    tokensOfBlock: thread.measures.ofBlock,
    context: gauge.size(),
    ratio: gauge.ratio,
    overheadTokens: gauge.reportedOverhead,
  };
}

/** A plan whose result gets under the threshold; else the floor that no compaction gets below. */
export function fittingPlan(parts: Planned): ReturnType<typeof planUnder> {
  const { gauge, options } = parts;
  return planUnder(snapshotOf(parts), {
    thresholdTokens: gauge.thresholds.autoCompact,
    // Without a reported usage the result will be looked at with the padding of an estimate.
    padding: gauge.size().source === "usage" ? 1 : DECISION_PADDING,
    limitTokens: gauge.limitTokens,
    keepRecentTokens: options.compaction.keepRecentTokens,
    measured: measuredBy(parts),
  });
}

/**
 * Brings a summary up to date with what came since: the conversation as if the summary stood in it already, compacted
 * once more. Undefined if nothing came that is not kept anyway.
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
        measured: measuredBy(parts),
      },
    );
  } catch {
    return undefined;
  }
}

/** Tokens for restored content: the result stays well below the threshold, but for what nobody else would tell the agent. */
export function restoreBudget(
  { thresholds }: Needs<"gauge">["gauge"],
  { keptTokens, overheadTokens, countTokens }: CompactionPlan,
  summary: string,
): number {
  const room = thresholds.autoCompact * RESULT_SHARE - overheadTokens - keptTokens - countTokens(summary);
  return Math.max(inProportion(thresholds, LEAST_RESTORE_TOKENS), Math.floor(room));
}
