import {
  type CompactionPlan,
  planCompaction,
  planUnder,
  RESULT_SHARE,
} from "../compaction/plan/compaction-plan.ts";
import { LEAST_RESTORE_TOKENS } from "../compaction/plan/room.ts";
import type { KnownMeasures, Snapshot } from "../compaction/plan/sized.ts";
import type { ForkSource, RequestFrame } from "../compaction/write/shared-prefix.ts";
import type { UserEntry } from "../conversation/entry.ts";
import type { ApiMessage } from "../conversation/message.ts";
import { continuationMessage } from "../summary/summary-message.ts";
import { DECISION_PADDING } from "../tokens/measure.ts";
import { inProportion } from "../window/thresholds.ts";
import { jsonCopy } from "./compare-messages.ts";
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

/** The host's request with what modules add to it. */
export const sendingFrame = ({ frame, modules }: Needs<"frame" | "modules">): RequestFrame =>
  modules.completeFrame(frame.current ?? {});

type Forked = Needs<"options" | "frame" | "modules" | "cache" | "thread" | "gauge">;

/**
 * A fork pays only while the provider has the conversation in its cache; after that a call of its own, without
 * pictures and thinking, is smaller. It needs the whole request: undefined if the host did not pass it.
 */
export function forkOf(parts: Forked): ForkSource | undefined {
  const { options, frame, cache, thread, gauge } = parts;
  if (options.model === undefined || frame.current === undefined) return undefined;
  const cachedMessages = cache.warmMessages;
  // The provider's own compaction needs the whole request, cached or not.
  if (cachedMessages === 0 && options.compaction.summariser !== "provider") return undefined;
  return {
    model: options.model,
    frame: sendingFrame(parts),
    messagesFor: (entries) => thread.messagesFor(entries),
    cachedMessages,
    contextTokens: gauge.size().tokens,
  };
}

/**
 * A fork of the conversation as it is now, for work in the background. The host may change its messages in place before
 * the request is written, and thinking that is bound to the old text would be refused with the new one.
 */
export function forkNow(parts: Forked): ForkSource | undefined {
  const fork = forkOf(parts);
  const messages = fork && (jsonCopy(parts.thread.outbox()()) as readonly ApiMessage[] | undefined);
  return fork && messages && { ...fork, messagesFor: () => messages };
}
