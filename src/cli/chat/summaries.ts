import {
  type CompactBoundaryEntry,
  type Entry,
  entryBlocks,
  isCompactBoundary,
  isSummaryEntry,
  rawContent,
} from "../../conversation/entry.ts";
import { undoRecordOf } from "../../conversation/undo-marks.ts";
import { contentText, stringField } from "../../conversation/untrusted.ts";
import { stretchesOf } from "../../host/session-history.ts";
import { unwrapSummary } from "../../summary/summary-message.ts";
import type { Session } from "../../transcript/load.ts";
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
