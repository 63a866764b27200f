import { type CompactBoundaryEntry, type Entry, isCompactBoundary } from "./entry.ts";
import { stringField } from "./fields.ts";
import { isEntry, isRecord } from "./untrusted.ts";

/**
 * A compaction is written as several lines, and whoever writes them may die in the middle: readers would then take
 * the part for the whole conversation. So the boundary names the last line, and each line its boundary.
 */
export function asOneWrite(lines: readonly Entry[]): readonly Entry[] {
  const boundary = lines.find(isCompactBoundary);
  const endsWith = lines.findLast(({ uuid }) => uuid !== undefined)?.uuid;
  if (boundary === undefined || endsWith === undefined || endsWith === boundary.uuid) return lines;
  const { compactMetadata } = boundary;
  const longhaul = { overheadTokens: 0, tokenRatio: 1, ...compactMetadata.longhaul, endsWith };
  const whole: CompactBoundaryEntry = { ...boundary, compactMetadata: { ...compactMetadata, longhaul } };
  return lines.map((line) =>
    line === boundary ? whole : ({ ...line, writtenWith: boundary.uuid } as Entry),
  );
}

/** Without compactions whose writer died in the middle. The very list where there are none. */
export function withoutTornWrites(entries: readonly Entry[]): readonly Entry[] {
  const ends = new Map<string, string>();
  for (const entry of entries) {
    const end = endOf(entry);
    if (end !== undefined && entry.uuid !== undefined) ends.set(end, entry.uuid);
  }
  if (ends.size === 0) return entries;
  for (const entry of entries) if (isEntry(entry) && entry.uuid !== undefined) ends.delete(entry.uuid);
  const torn = new Set(ends.values());
  if (torn.size === 0) return entries;
  const isTorn = (entry: Entry): boolean =>
    isRecord(entry) && (torn.has(stringField(entry, "writtenWith") ?? "") || torn.has(entry.uuid ?? ""));
  return entries.filter((entry) => !isTorn(entry));
}

function endOf(entry: Entry): string | undefined {
  if (!isEntry(entry) || !isCompactBoundary(entry)) return undefined;
  return stringField(entry.compactMetadata?.longhaul, "endsWith");
}
