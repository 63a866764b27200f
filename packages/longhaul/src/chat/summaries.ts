import {
  contentText,
  entryBlocks,
  isCompactBoundary,
  isSummaryEntry,
  rawContent,
  stringField,
  undoRecordOf,
} from "@longhaul/core/internal/messages";
import { unwrapSummary } from "@longhaul/core/internal/summary";
import type { CompactBoundaryEntry, Entry } from "@longhaul/core/messages";
import type { Session } from "@longhaul/sessions";
import { historySegmentsOf } from "@longhaul/sessions/internal";
import { formatCount } from "../view/numbers.ts";
import { shownText } from "../view/text-width.ts";

/** A compaction with its summary. */
export interface CompactionSummary {
  readonly boundary: CompactBoundaryEntry;
  readonly text: string;
}

/** Finds the newest summary in these entries, without the text around it. Undefined if there is none. */
export function summaryIn(entries: readonly Entry[]): string | undefined {
  const entry = entries.findLast(isSummaryEntry);
  if (entry === undefined) return undefined;
  const own = unwrapSummary(contentText(rawContent(entry)));
  // A summary that the provider wrote is in a block with a separate type.
  const text =
    own ||
    entryBlocks(entry)
      .flatMap((block) => stringField(block, "content") ?? [])
      .join("\n");
  return text.trim() === "" ? undefined : shownText(text.trim());
}

/** Returns the compactions that led to the conversation, newest first. Omits compactions that were undone. */
export function summariesOf(session: Session): readonly CompactionSummary[] {
  return historySegmentsOf(session)
    .flatMap(({ boundary, entries }) => {
      const text = boundary && undoRecordOf(boundary) === undefined ? summaryIn(entries()) : undefined;
      return boundary === undefined || text === undefined ? [] : [{ boundary, text }];
    })
    .toReversed();
}

/** Returns the compaction at the start of a conversation. */
export function currentSummary(conversation: readonly Entry[]): CompactionSummary | undefined {
  const boundary = conversation.findLast(isCompactBoundary);
  const text = summaryIn(conversation);
  if (boundary === undefined || text === undefined || undoRecordOf(boundary) !== undefined) return undefined;
  return { boundary, text };
}

/** Describes the figures of a compaction, as far as its boundary contains them. */
export function compactedWords({ compactMetadata }: CompactBoundaryEntry): string {
  const { preTokens, postTokens } = compactMetadata ?? {};
  if (typeof preTokens !== "number") return "Compacted";
  const after = typeof postTokens === "number" ? ` → ${formatCount(postTokens)}` : "";
  return `Compacted: ${formatCount(preTokens)}${after} tokens`;
}
