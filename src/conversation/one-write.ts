import { committedSpanIds, isCollapsedSpan } from "./collapsed.ts";
import { type CompactBoundaryEntry, type Entry, isCompactBoundary } from "./entry.ts";
import { stringField } from "./fields.ts";
import { isUndoMark, type UndoMark } from "./undo.ts";
import { isEntry, isRecord } from "./untrusted.ts";

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
  return lines.map((line) => (line === first ? whole : ({ ...line, writtenWith: first.uuid } as Entry)));
}

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
    isRecord(entry) && (torn.has(stringField(entry, "writtenWith") ?? "") || torn.has(entry.uuid ?? ""));
  return entries.filter((entry) => !isTorn(entry));
}

/** Uuids of boundaries and marks whose last line is missing. */
function tornWrites(entries: readonly Entry[]): Iterable<string> {
  const ends = new Map<string, string>();
  for (const entry of entries) {
    const end = endOf(entry);
    if (end !== undefined && entry.uuid !== undefined) ends.set(end, entry.uuid);
  }
  if (ends.size === 0) return [];
  for (const entry of entries) if (isEntry(entry) && entry.uuid !== undefined) ends.delete(entry.uuid);
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
  const spans = entries.filter(isCollapsedSpan).filter(({ collapsed }) => collapsed.isSettled !== true);
  if (spans.length === 0) return [];
  const committed = new Set(entries.flatMap(committedSpanIds));
  return spans.flatMap(({ uuid, collapsed }) => (committed.has(collapsed.spanId) ? [] : uuid));
}
