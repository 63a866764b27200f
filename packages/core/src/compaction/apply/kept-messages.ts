import {
  type CompactBoundaryEntry,
  type Entry,
  entryBlocks,
  isCompactBoundary,
} from "../../messages/entry.ts";
import { withoutThinkingFrom } from "../../messages/without-thinking.ts";
import type { CompactionPlan } from "../plan/compaction-plan.ts";
import { lastUuid } from "./new-entries.ts";

/** The kept messages of a compaction as they can be sent: which of them lose their thinking. */

export interface KeptMessages {
  readonly entries: readonly Entry[];
  readonly tokens: number;
  /** {@link CompactionPlan.pending}, as they can be sent. */
  readonly pending: readonly Entry[];
  readonly pendingTokens: number;
  /** The newest of the conversation's entries up to which thinking was left out; see `BoundaryRecord`. */
  readonly withoutThinkingUpTo: string | undefined;
}

export interface KeepOptions {
  /** The model ties thinking to the history before it. */
  readonly bindsThinking: boolean;
  /** The summary is the provider's signed block, after which the thinking of what follows stays valid. */
  readonly isSigned: boolean;
}

/**
 * The kept messages as they can be sent. Where the model binds its thinking to the history, that of messages
 * after a change would be refused; messages before it have the history that they always had.
 */
export function keptMessages(plan: CompactionPlan, options: KeepOptions): KeptMessages {
  const { bindsThinking } = options;
  const kept = stripped(plan.kept, bindsThinking ? firstChange(plan, options) : undefined);
  // They follow a summary, so their history has changed.
  const pending = stripped(plan.pending, bindsThinking ? 0 : undefined);
  return {
    entries: kept.entries,
    tokens: kept.blocks === 0 ? plan.keptTokens : plan.countEntries(kept.entries),
    pending: pending.entries,
    pendingTokens: pending.blocks === 0 ? plan.pendingTokens : plan.countEntries(pending.entries),
    withoutThinkingUpTo: kept.blocks === 0 ? earlierMark(plan) : lastUuid(kept.entries),
  };
}

/** The entries without thinking from this index on. The very list where there is none to leave out. */
function stripped(
  entries: readonly Entry[],
  from: number | undefined,
): { readonly entries: readonly Entry[]; readonly blocks: number } {
  const without = from === undefined ? undefined : withoutThinkingFrom(entries, from);
  return without === undefined || without.blocks === 0 ? { entries, blocks: 0 } : without;
}

/** The first kept message that has another history than it had; undefined where none has. */
function firstChange(plan: CompactionPlan, { isSigned }: KeepOptions): number | undefined {
  if (plan.keptPlace === "after") {
    return isSigned && !plan.isKeptRewritten && isCovered(plan) ? undefined : 0;
  }
  if (!plan.isKeptRewritten) return undefined;
  const asTheyWere = new Set(plan.entries);
  return plan.kept.findIndex((entry) => !asTheyWere.has(entry));
}

/**
 * A signed summary covers what follows only if that begins with the other speaker's message, and if the request for the
 * summary had the summarized messages as they were: a request cannot end in whitespace of the assistant.
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

/** The mark of an earlier compaction, if it still covers a kept message: the thinking before it stays out. */
function earlierMark({ entries, kept, keptPlace, summarized }: CompactionPlan): string | undefined {
  const [first] = entries;
  const mark = first !== undefined && isCompactBoundary(first) ? markOf(first) : undefined;
  if (mark === undefined) return undefined;
  const isMarked = (entry: Entry): boolean => entry.uuid === mark;
  if (kept.some(isMarked)) return mark;
  // All that is kept came before the marked one.
  const isAllBefore = keptPlace === "before" && summarized.some(isMarked);
  return isAllBefore ? lastUuid(kept) : undefined;
}

const markOf = (boundary: CompactBoundaryEntry): string | undefined =>
  boundary.compactMetadata?.longhaul?.withoutThinkingUpTo;
