import {
  collapsedUuids,
  copiedIds,
  isCompactBoundary,
  isSummaryEntry,
  standInUuids,
  stringField,
} from "@longhaul/core/internal/messages";
import type { CompactBoundaryEntry, Entry } from "@longhaul/core/messages";
import { ChainWalker } from "../transcript/chain-walker.ts";
import { indexEntries } from "../transcript/entry-index.ts";
import type { Session } from "../transcript/load.ts";
import { indexedLinesBefore, shownLines } from "../transcript/relink.ts";

/** All messages of a session, oldest first, including those that are no longer in its context. */
export interface SessionHistory {
  /** Entries, each once. A collapsed span is replaced by its messages. */
  readonly entries: readonly Entry[];
  /**
   * True for an entry that only repeats earlier ones: a summary, or a kept message that was written again.
   */
  isRepeated(entry: Entry): boolean;
  /**
   * Index of a message, or of its replacement. For a message on an abandoned branch, the index where that
   * branch starts. Undefined if the session does not contain the message.
   */
  placeOf(uuid: string): number | undefined;
}

export function sessionHistory(session: Session): SessionHistory {
  const byUuid = entriesByUuid(session);
  const stretches = historySegmentsOf(session);
  const boundaries = new Set(stretches.slice(1).flatMap(({ boundary }) => boundary?.uuid ?? []));
  const places = new Map<string, number>();
  const entries: Entry[] = [];
  const retold = new Set<Entry>();
  for (const [nth, stretch] of stretches.entries()) {
    for (const shown of stretch.entries()) {
      for (const entry of messagesOf(shown, byUuid)) {
        if (entry.uuid !== undefined && places.has(entry.uuid)) continue;
        entries.push(entry);
        if (nth > 0 && isRepeated(entry, boundaries)) retold.add(entry);
        notePlaces(entry, entries.length - 1, places);
      }
      notePlaces(shown, entries.length - 1, places);
    }
  }
  return {
    entries,
    isRepeated: (entry) => retold.has(entry),
    placeOf: (uuid) => placeFrom(uuid, entries, places, byUuid),
  };
}

/** Returns all messages that a collapsed span replaces, including those of nested spans. */
export function messagesOfSpan(span: Entry, session: Session): readonly Entry[] {
  return messagesOf(span, entriesByUuid(session));
}

type ByUuid = ReadonlyMap<string | undefined, Entry>;

const entriesByUuid = ({ entries }: Session): ByUuid => new Map(entries.map((entry) => [entry.uuid, entry]));

/**
 * Records the position of an entry. If the entry replaces messages, also records the position for these
 * messages.
 */
function notePlaces(entry: Entry, place: number, places: Map<string, number>): void {
  for (const uuid of [entry.uuid, ...standInUuids(entry)])
    if (uuid !== undefined && !places.has(uuid)) places.set(uuid, place);
}

/**
 * Part of a session between two compactions. A message that a compaction kept is in two parts: before and
 * after that compaction.
 */
export interface HistorySegment {
  /** Compaction at the start of this part. Undefined for the first part of the session. */
  readonly boundary: CompactBoundaryEntry | undefined;
  /**
   * Returns the entries. Builds the list on each call, because a session may have thousands of parts, each as
   * long as a conversation.
   */
  readonly entries: () => readonly Entry[];
}

/**
 * Returns the parts of the session that led to the current conversation, oldest first. If the file is
 * incomplete, earlier parts are missing.
 */
export function historySegmentsOf({ entries, boundaries, conversation }: Session): readonly HistorySegment[] {
  const index = indexEntries(entries);
  const walker = new ChainWalker(index);
  const seen = new Set<string>();
  let boundary: CompactBoundaryEntry | undefined = boundaries.find(({ isCurrent }) => isCurrent)?.boundary;
  const stretches: HistorySegment[] = [{ boundary, entries: () => conversation }];
  while (boundary !== undefined && !seen.has(boundary.uuid)) {
    seen.add(boundary.uuid);
    const before = indexedLinesBefore(index, boundary, walker);
    if (before.lines.length === 0) break;
    boundary = before.boundary;
    stretches.push({ boundary, entries: () => shownLines(before) });
  }
  return stretches.reverse();
}

/**
 * Returns the messages that a span replaces, including those of nested spans. If these messages are missing,
 * returns the entry itself. Visits each span once. Otherwise spans that contain each other would cause
 * endless recursion.
 */
function messagesOf(entry: Entry, byUuid: ByUuid, seen: Set<Entry> = new Set()): readonly Entry[] {
  seen.add(entry);
  const inside = collapsedUuids(entry).flatMap((uuid) => byUuid.get(uuid) ?? []);
  const messages = inside.flatMap((one) => (seen.has(one) ? [] : messagesOf(one, byUuid, seen)));
  return messages.length === 0 ? [entry] : messages;
}

/**
 * Checks whether an entry repeats earlier entries. Every line of our compactions names its boundary, so such
 * a line is a repetition. Other agents keep messages under their old ids, so those messages are not repeated.
 */
function isRepeated(entry: Entry, boundaries: ReadonlySet<string>): boolean {
  if (isCompactBoundary(entry) || isSummaryEntry(entry)) return true;
  return boundaries.has(stringField(entry, "writtenWith") ?? "");
}

/**
 * Returns the place of a message. If the message is on an abandoned branch, returns the place of its copy. If
 * there is no copy, returns the place where the branch starts.
 */
function placeFrom(
  uuid: string,
  entries: readonly Entry[],
  places: ReadonlyMap<string, number>,
  byUuid: ByUuid,
): number | undefined {
  const place = places.get(uuid);
  if (place !== undefined) return place;
  const copy = entries.findIndex((entry) => copiedIds(entry).includes(uuid));
  if (copy !== -1) return copy;
  const seen = new Set<string>();
  let above: string | null | undefined = uuid;
  while (typeof above === "string" && !seen.has(above)) {
    seen.add(above);
    const line = byUuid.get(above);
    for (const id of [above, ...copiedIds(line)]) {
      const known = places.get(id);
      if (known !== undefined) return known;
    }
    above = lineAbove(line);
  }
  return undefined;
}

/**
 * Returns the id of the line above an entry. A boundary has no parent and names the line above it in
 * `logicalParentUuid`. If a compaction was undone, its boundary is on an abandoned branch.
 */
const lineAbove = (entry: Entry | undefined): string | null | undefined =>
  entry !== undefined && isCompactBoundary(entry) ? entry.logicalParentUuid : entry?.parentUuid;
