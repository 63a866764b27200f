import { type CompactBoundaryEntry, type Entry, isMicrocompactBoundary } from "./entry.ts";
import { asList, field } from "./fields.ts";
import { isSnipMarker, snippedUuids } from "./snipped.ts";
import { type Span, withoutThinkingIn } from "./thinking.ts";
import { entryBlocks, isEntry, responseIdOf } from "./untrusted.ts";

/**
 * Lines of a session without the thinking that the model would no longer take. On disk nothing is changed: a
 * compaction, a clearing and a snip leave their marks only, and what stands between the change and its mark still
 * has its thinking, bound to a history that is gone. What came after the mark was written in knowledge of it.
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

/** Ids of the calls or messages that a mark tells of, where the model binds its thinking. */
function changedBy(entry: Entry): readonly string[] {
  if (isSnipMarker(entry)) return entry.snipped.bindsThinking === true ? snippedUuids(entry) : [];
  if (!isMicrocompactBoundary(entry)) return [];
  const { microcompactMetadata } = entry;
  if (field(field(microcompactMetadata, "longhaul"), "bindsThinking") !== true) return [];
  return asList(field(microcompactMetadata, "compactedToolIds")).filter((id) => typeof id === "string");
}

/** The first index whose thinking has a changed history: of a message itself, of a call what follows its response. */
function placesOf(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const begins = new Map<string, number>();
  for (const [at, entry] of entries.entries()) {
    if (!isEntry(entry)) continue;
    if (typeof entry.uuid === "string") places.set(entry.uuid, at);
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
