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

/** Writes of several lines: written so that a reader can tell a torn one, and read without torn ones. */

/**
 * A compaction or an undo is written as several lines, and whoever writes them may die in the middle: readers would
 * then take the part for the whole conversation. So the first names the last line, and each line that first one.
 */
export function asOneWrite(lines: readonly Entry[]): readonly Entry[] {
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

/** A line that stands further up already and hangs elsewhere since this write. It is part of what wrote it first. */
export const movedWith = (line: Entry, first: EntryLink): Entry =>
  ({ ...line, movedWith: first.uuid }) as Entry;

function withEnd(first: CompactBoundaryEntry | UndoMark, endsWith: string): Entry {
  if (isUndoMark(first)) return { ...first, undo: { ...first.undo, endsWith } };
  const { compactMetadata } = first;
  const longhaul = { overheadTokens: 0, tokenRatio: 1, ...compactMetadata.longhaul, endsWith };
  return { ...first, compactMetadata: { ...compactMetadata, longhaul } };
}

/** Without compactions, undos and commits whose writer died in the middle. The very list where there are none. */
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

/** Uuids of boundaries and marks whose last line does not stand below them. */
function tornWrites(entries: readonly Entry[]): Iterable<string> {
  const ends = new Map<string, string>();
  const begun = new Set<string>();
  for (const entry of entries) {
    if (!isEntry(entry) || entry.uuid === undefined) continue;
    ends.delete(entry.uuid);
    const end = endOf(entry);
    if (end === undefined || begun.has(entry.uuid)) continue;
    // A host's change may write the first line again, further down.
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
 * Uuids of spans that no mark names, which is the last line of their commit. The mark is also what the next line
 * hangs on: a span without it would be there for the next process, and be gone for the one after it. Those that a
 * compaction took over need no mark any more.
 */
function tornSpans(entries: readonly Entry[]): readonly string[] {
  const spans = entries.filter(isCollapsedSpan).filter((span) => !isSettled(span));
  if (spans.length === 0) return [];
  const committed = new Set(entries.flatMap(committedSpanIds));
  return spans.flatMap(({ uuid, collapsed }) => (committed.has(collapsed.spanId) ? [] : uuid));
}
