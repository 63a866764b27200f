import { copiedIds } from "../conversation/copies.ts";
import type { Entry } from "../conversation/entry.ts";
import { undoRecordOf } from "../conversation/undo-rewind.ts";
import { isMoreNeeded } from "./chain.ts";
import type { EntryIndex } from "./entry-index.ts";
import { type ConversationLines, linesFrom, stretchBefore } from "./relink.ts";

/** A line of those that led to the current conversation. */
export interface LineOfPast {
  /** As it was first written: a copy that was made of it for a compaction or an undo is none of its own. */
  readonly line: Entry;
  /** How many of the compactions that led to the conversation came after it. */
  readonly compactionsSince: number;
}

/** All lines that led to the current conversation, also from before its compactions. Newest first, each once. */
export function linesOfPast(index: EntryIndex): readonly LineOfPast[] {
  const places = new Set<number>();
  const compactions: number[] = [];
  for (const { lines, boundary } of stretchesBack(index)) {
    for (const line of lines) {
      const place = placeOfOriginal(index, line);
      if (place !== undefined) places.add(place);
    }
    const place = index.positions.get(boundary?.uuid ?? "");
    if (boundary !== undefined && place !== undefined && undoRecordOf(boundary) === undefined)
      compactions.push(place);
  }
  const newestFirst = [...places].sort((a, b) => b - a);
  let compactionsSince = 0;
  return newestFirst.map((place) => {
    while ((compactions[compactionsSince] ?? -1) > place) compactionsSince += 1;
    return { line: index.entries[place] as Entry, compactionsSince };
  });
}

/** In a session that was made of another one, the original may be in no line: then the copy is what there is. */
function placeOfOriginal({ entries, positions }: EntryIndex, line: Entry): number | undefined {
  const own = positions.get(line.uuid ?? "");
  for (const id of copiedIds(line)) {
    const place = positions.get(id);
    // A file may claim anything: an original stands above its copy and is of its kind.
    if (place !== undefined && place < (own ?? 0) && entries[place]?.type === line.type) return place;
  }
  return own;
}

/** The current conversation, what was before its boundary, and so on. */
function* stretchesBack(index: EntryIndex): Generator<ConversationLines> {
  const current = linesFrom(index);
  let stretch: ConversationLines | undefined = isMoreNeeded(current) ? undefined : current;
  const seen = new Set<Entry>();
  while (stretch !== undefined && stretch.lines.length > 0) {
    yield stretch;
    const { boundary } = stretch;
    if (boundary === undefined || seen.has(boundary)) return;
    seen.add(boundary);
    stretch = stretchBefore(index, boundary);
  }
}
