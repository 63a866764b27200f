import { expandedSpanIds, isCollapsedSpan } from "./collapsed.ts";
import { type CompactBoundaryEntry, type Entry, isMicrocompactBoundary } from "./entry.ts";
import { field, stringListField } from "./fields.ts";
import { isSnipMarker, snippedUuids } from "./snipped.ts";
import { standInUuids } from "./stand-ins.ts";
import { type Span, withoutThinkingIn } from "./thinking.ts";
import { entryBlocks, isEntry, responseIdOf } from "./untrusted.ts";

/**
 * Lines of a session without the thinking that the model would no longer take. On disk nothing is changed: a
 * compaction, a clearing, a snip and a collapse leave their marks only, and what stands between the change and its
 * mark still has its thinking, bound to a history that is gone. What came after the mark was written in knowledge
 * of it.
 */
export function withoutRefusedThinking(
  entries: readonly Entry[],
  boundary: CompactBoundaryEntry | undefined,
): readonly Entry[] {
  const spans = [...keptSpan(entries, boundary), ...markedSpans(entries)];
  return spans.length === 0 ? entries : withoutThinkingIn(entries, spans);
}

function keptSpan(entries: readonly Entry[], boundary: CompactBoundaryEntry | undefined): readonly Span[] {
  const upTo = boundary?.compactMetadata?.longhaul?.withoutThinkingUpTo;
  const end = upTo === undefined ? -1 : entries.findIndex((entry) => isEntry(entry) && entry.uuid === upTo);
  return end === -1 ? [] : [{ from: 0, to: end + 1 }];
}

function markedSpans(entries: readonly Entry[]): readonly Span[] {
  const marks: { readonly changed: readonly string[]; readonly to: number }[] = [];
  for (const [to, entry] of entries.entries()) {
    if (!isEntry(entry)) continue;
    const changed = changedBy(entry);
    if (changed.length > 0) marks.push({ changed, to });
  }
  if (marks.length === 0) return [];
  const places = placesOf(entries);
  return marks.map(({ changed, to }) => {
    let from = to;
    // What is not here any more stood before everything that is.
    for (const id of changed) from = Math.min(from, places.get(id) ?? 0);
    return { from, to };
  });
}

/** Ids of the calls, messages or spans that a mark tells of, where the model binds its thinking. */
function changedBy(entry: Entry): readonly string[] {
  if (isSnipMarker(entry)) return entry.snipped.bindsThinking === true ? snippedUuids(entry) : [];
  // Lines that are never sent are in a span as well, and not all of them are read.
  if (isCollapsedSpan(entry)) return entry.collapsed.bindsThinking === true ? [entry.uuid] : [];
  if (field(field(entry, "collapse"), "bindsThinking") === true) return expandedSpanIds(entry);
  if (!isMicrocompactBoundary(entry)) return [];
  const { microcompactMetadata } = entry;
  if (field(field(microcompactMetadata, "longhaul"), "bindsThinking") !== true) return [];
  return stringListField(microcompactMetadata, "compactedToolIds");
}

/** The first index whose thinking has a changed history: of a message itself, of a call what follows its response. */
function placesOf(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const begins = new Map<string, number>();
  for (const [at, entry] of entries.entries()) {
    if (!isEntry(entry)) continue;
    const place = placeOf(entry, at, places);
    if (typeof entry.uuid === "string") places.set(entry.uuid, place);
    if (isCollapsedSpan(entry)) places.set(entry.collapsed.spanId, place);
    if (entry.type !== "assistant") continue;
    const responseId = responseIdOf(entry);
    const begin = (responseId === undefined ? undefined : begins.get(responseId)) ?? at;
    if (responseId !== undefined) begins.set(responseId, begin);
    for (const block of entryBlocks(entry)) {
      if (block.type !== "tool_use" || typeof block.id !== "string") continue;
      places.set(block.id, Math.min(places.get(block.id) ?? begin + 1, begin + 1));
    }
  }
  return places;
}

/** What stands for others stands where the first of them was. */
function placeOf(entry: Entry, at: number, places: ReadonlyMap<string, number>): number {
  let place = at;
  for (const uuid of standInUuids(entry)) place = Math.min(place, places.get(uuid) ?? at);
  return place;
}
