import {
  type CompactBoundaryEntry,
  type Entry,
  entryBlocks,
  isCompactBoundary,
} from "../../messages/entry.ts";
import { withoutThinkingFrom } from "../../messages/without-thinking.ts";
import type { CompactionPlan } from "../plan/compaction-plan.ts";
import { lastUuid } from "./new-entries.ts";

/** Kept messages of a compaction as they can be sent, with or without their thinking. */

export interface KeptMessages {
  readonly entries: readonly Entry[];
  readonly tokens: number;
  /** Messages of {@link CompactionPlan.pending}, as they can be sent. */
  readonly pending: readonly Entry[];
  readonly pendingTokens: number;
  /** Id of the newest entry up to which thinking was dropped. See `BoundaryRecord`. */
  readonly withoutThinkingUpTo: string | undefined;
}

export interface KeepOptions {
  /** True if the model binds thinking to the messages before it. */
  readonly bindsThinking: boolean;
  /** True if the summary is a signed block of the provider. Thinking in the messages after it stays valid. */
  readonly isSigned: boolean;
}

/**
 * Returns the kept messages as they can be sent. If the model binds thinking to the history, it refuses
 * thinking in messages that follow a change. Messages before the change keep their thinking, because their
 * history is still the same.
 */
export function keptMessages(plan: CompactionPlan, options: KeepOptions): KeptMessages {
  const { bindsThinking } = options;
  const kept = stripped(plan.kept, bindsThinking ? firstChange(plan, options) : undefined);
  // Pending messages follow a summary, so the messages before them have changed.
  const pending = stripped(plan.pending, bindsThinking ? 0 : undefined);
  return {
    entries: kept.entries,
    tokens: kept.blocks === 0 ? plan.keptTokens : plan.countEntries(kept.entries),
    pending: pending.entries,
    pendingTokens: pending.blocks === 0 ? plan.pendingTokens : plan.countEntries(pending.entries),
    withoutThinkingUpTo: kept.blocks === 0 ? earlierMark(plan) : lastUuid(kept.entries),
  };
}

/**
 * Returns the entries without thinking from this index on. Returns the same list if there is no thinking to
 * remove.
 */
function stripped(
  entries: readonly Entry[],
  from: number | undefined,
): { readonly entries: readonly Entry[]; readonly blocks: number } {
  const without = from === undefined ? undefined : withoutThinkingFrom(entries, from);
  return without === undefined || without.blocks === 0 ? { entries, blocks: 0 } : without;
}

/** Returns the index of the first kept message with a change before it, or undefined if there is none. */
function firstChange(plan: CompactionPlan, { isSigned }: KeepOptions): number | undefined {
  if (plan.keptPlace === "after") {
    return isSigned && !plan.isKeptRewritten && isCovered(plan) ? undefined : 0;
  }
  if (!plan.isKeptRewritten) return undefined;
  const unchangedEntries = new Set(plan.entries);
  return plan.kept.findIndex((entry) => !unchangedEntries.has(entry));
}

/**
 * Returns true if thinking after a signed summary stays valid. The kept messages must begin with another role
 * than the last summarized message. The request for the summary must also have contained the summarized
 * messages unchanged. If the last summarized message is the assistant's and ends in whitespace, it counts as
 * changed, because a request cannot end like that.
 */
function isCovered({ summarized, kept }: CompactionPlan): boolean {
  const last = summarized.findLast((entry) => speakerOf(entry) !== undefined);
  const first = kept.find((entry) => speakerOf(entry) !== undefined);
  if (last === undefined || first === undefined) return true;
  return speakerOf(last) !== speakerOf(first) && !endsInWhitespace(last);
}

function endsInWhitespace(entry: Entry): boolean {
  const end = entry.type === "assistant" ? entryBlocks(entry).at(-1) : undefined;
  return end?.type === "text" && /\s$/.test(end.text);
}

function speakerOf(entry: Entry): "user" | "assistant" | undefined {
  if (entry.type === "assistant") return "assistant";
  return entry.type === "user" || entry.type === "attachment" ? "user" : undefined;
}

/**
 * Returns the id of the message up to which an earlier compaction dropped thinking. If that message is now
 * summarized and all kept messages are older, returns the id of the last kept message. If that compaction
 * dropped no thinking from these kept messages, returns undefined.
 */
function earlierMark({ entries, kept, keptPlace, summarized }: CompactionPlan): string | undefined {
  const [first] = entries;
  const mark = first !== undefined && isCompactBoundary(first) ? markOf(first) : undefined;
  if (mark === undefined) return undefined;
  const isMarked = (entry: Entry): boolean => entry.uuid === mark;
  if (kept.some(isMarked)) return mark;
  // All kept messages are older than the marked message.
  const isAllBefore = keptPlace === "before" && summarized.some(isMarked);
  return isAllBefore ? lastUuid(kept) : undefined;
}

const markOf = (boundary: CompactBoundaryEntry): string | undefined =>
  boundary.compactMetadata?.longhaul?.withoutThinkingUpTo;
