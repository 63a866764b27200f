import {
  type CompactBoundaryEntry,
  type Entry,
  type EntryLink,
  isCompactBoundary,
  isEntry,
  type UndoMark,
} from "./entry.ts";
import { committedSpanIds, isCollapsedSpan, isSettled } from "./stand-ins.ts";
import { isUndoMark } from "./undo-marks.ts";
import { isRecord, stringField } from "./untrusted.ts";

/** Atomic writes of several lines. If a write is incomplete, readers can recognize and ignore it. */

/**
 * Marks the lines of a compaction or an undo as one write. The first line names the last line, and every
 * other line names the first. Without the marks, a reader would mistake the lines of a crashed writer for the
 * whole conversation.
 */
export function asAtomicWrite(lines: readonly Entry[]): readonly Entry[] {
  const first = lines.find(
    (line): line is CompactBoundaryEntry | UndoMark => isCompactBoundary(line) || isUndoMark(line),
  );
  const endsWith = lines.findLast(({ uuid }) => uuid !== undefined)?.uuid;
  if (first === undefined || endsWith === undefined || endsWith === first.uuid) return lines;
  const whole = withEnd(first, endsWith);
  return lines.map((line) => {
    if (line === first) return whole;
    const isMoved = stringField(line, "movedWith") === first.uuid;
    return isMoved ? line : ({ ...line, writtenWith: first.uuid } as Entry);
  });
}

/**
 * Marks an existing line that gets a new parent in this write. The line still belongs to the write that
 * created it.
 */
export const markMoved = (line: Entry, first: EntryLink): Entry =>
  ({ ...line, movedWith: first.uuid }) as Entry;

function withEnd(first: CompactBoundaryEntry | UndoMark, endsWith: string): Entry {
  if (isUndoMark(first)) return { ...first, undo: { ...first.undo, endsWith } };
  const { compactMetadata } = first;
  const longhaul = { overheadTokens: 0, tokenRatio: 1, ...compactMetadata.longhaul, endsWith };
  return { ...first, compactMetadata: { ...compactMetadata, longhaul } };
}

/**
 * Removes compactions, undos and commits whose writer crashed halfway. Returns the same list if there are
 * none.
 */
export function withoutTornWrites(entries: readonly Entry[]): readonly Entry[] {
  const torn = new Set([...tornWrites(entries), ...tornSpans(entries)]);
  if (torn.size === 0) return entries;
  const isTorn = (entry: Entry): boolean =>
    isRecord(entry) &&
    [stringField(entry, "writtenWith"), stringField(entry, "movedWith"), entry.uuid].some(
      (uuid) => uuid !== undefined && torn.has(uuid),
    );
  return entries.filter((entry) => !isTorn(entry));
}

/** Returns the uuids of boundaries and marks whose write is incomplete, because its last line is missing. */
function tornWrites(entries: readonly Entry[]): Iterable<string> {
  const ends = new Map<string, string>();
  const begun = new Set<string>();
  for (const entry of entries) {
    if (!isEntry(entry) || entry.uuid === undefined) continue;
    ends.delete(entry.uuid);
    const end = endOf(entry);
    if (end === undefined || begun.has(entry.uuid)) continue;
    // Remember this first line, because the file may contain it a second time after an edit by the host.
    begun.add(entry.uuid);
    ends.set(end, entry.uuid);
  }
  return ends.values();
}

function endOf(entry: Entry): string | undefined {
  if (!isEntry(entry)) return undefined;
  if (isUndoMark(entry)) return stringField(entry.undo, "endsWith");
  return isCompactBoundary(entry) ? stringField(entry.compactMetadata?.longhaul, "endsWith") : undefined;
}

/**
 * Returns the uuids of collapsed spans without a commit mark. The mark is the last line of a commit and the
 * parent of the next line. Without the mark, the next line would not lead back to the span, and the span
 * would disappear. If a compaction absorbed a span, the span needs no mark.
 */
function tornSpans(entries: readonly Entry[]): readonly string[] {
  const spans = entries.filter(isCollapsedSpan).filter((span) => !isSettled(span));
  if (spans.length === 0) return [];
  const committed = new Set(entries.flatMap(committedSpanIds));
  return spans.flatMap(({ uuid, collapsed }) => (committed.has(collapsed.spanId) ? [] : uuid));
}
