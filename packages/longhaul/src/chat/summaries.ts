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
import { stretchesOf } from "@longhaul/sessions/internal";
import { formatCount } from "../view/numbers.ts";
import { shownText } from "../view/text-width.ts";

/** A compaction with the summary that it left. */
export interface CompactionSummary {
  readonly boundary: CompactBoundaryEntry;
  readonly text: string;
}

/** The newest summary in these entries, without the words around it; undefined where there is none to read. */
export function summaryIn(entries: readonly Entry[]): string | undefined {
  const entry = entries.findLast(isSummaryEntry);
  if (entry === undefined) return undefined;
  const own = unwrapSummary(contentText(rawContent(entry)));
  // A provider's own summary is a block of its own kind.
  const text =
    own ||
    entryBlocks(entry)
      .flatMap((block) => stringField(block, "content") ?? [])
      .join("\n");
  return text.trim() === "" ? undefined : shownText(text.trim());
}

/** The compactions that led to the conversation, newest first. An undone one did not. */
export function summariesOf(session: Session): readonly CompactionSummary[] {
  return stretchesOf(session)
    .flatMap(({ boundary, entries }) => {
      const text = boundary && undoRecordOf(boundary) === undefined ? summaryIn(entries()) : undefined;
      return boundary === undefined || text === undefined ? [] : [{ boundary, text }];
    })
    .toReversed();
}

/** The compaction that a conversation begins with. */
export function currentSummary(conversation: readonly Entry[]): CompactionSummary | undefined {
  const boundary = conversation.findLast(isCompactBoundary);
  const text = summaryIn(conversation);
  if (boundary === undefined || text === undefined || undoRecordOf(boundary) !== undefined) return undefined;
  return { boundary, text };
}

/** The figures of a compaction, as far as its boundary has them. */
export function compactedWords({ compactMetadata }: CompactBoundaryEntry): string {
  const { preTokens, postTokens } = compactMetadata ?? {};
  if (typeof preTokens !== "number") return "Compacted";
  const after = typeof postTokens === "number" ? ` → ${formatCount(postTokens)}` : "";
  return `Compacted: ${formatCount(preTokens)}${after} tokens`;
}
