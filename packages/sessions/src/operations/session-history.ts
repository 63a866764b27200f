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

/** Everything that was said in a session, oldest first: also what is no longer in its context. */
export interface SessionHistory {
  /** Each entry once. Where messages were collapsed, the messages. */
  readonly entries: readonly Entry[];
  /** Whether it only says again what stands above it: a summary, a message that was written anew to be kept. */
  isRetold(entry: Entry): boolean;
  /**
   * The index of a message, or of what stands where it was. Of one on a branch that was left: where that branch
   * leaves the conversation. Undefined where the session does not know it.
   */
  placeOf(uuid: string): number | undefined;
}

export function sessionHistory(session: Session): SessionHistory {
  const byUuid = entriesByUuid(session);
  const stretches = stretchesOf(session);
  const boundaries = new Set(stretches.slice(1).flatMap(({ boundary }) => boundary?.uuid ?? []));
  const places = new Map<string, number>();
  const entries: Entry[] = [];
  const retold = new Set<Entry>();
  for (const [nth, stretch] of stretches.entries()) {
    for (const shown of stretch.entries()) {
      for (const entry of messagesOf(shown, byUuid)) {
        if (entry.uuid !== undefined && places.has(entry.uuid)) continue;
        entries.push(entry);
        if (nth > 0 && isRetold(entry, boundaries)) retold.add(entry);
        notePlaces(entry, entries.length - 1, places);
      }
      notePlaces(shown, entries.length - 1, places);
    }
  }
  return {
    entries,
    isRetold: (entry) => retold.has(entry),
    placeOf: (uuid) => placeFrom(uuid, entries, places, byUuid),
  };
}

/** What a collapsed span stands for, whole: also of spans within it. */
export function messagesOfSpan(span: Entry, session: Session): readonly Entry[] {
  return messagesOf(span, entriesByUuid(session));
}

type ByUuid = ReadonlyMap<string | undefined, Entry>;

const entriesByUuid = ({ entries }: Session): ByUuid => new Map(entries.map((entry) => [entry.uuid, entry]));

/** What stands for messages is where these were. */
function notePlaces(entry: Entry, place: number, places: Map<string, number>): void {
  for (const uuid of [entry.uuid, ...standInUuids(entry)])
    if (uuid !== undefined && !places.has(uuid)) places.set(uuid, place);
}

/** From one compaction to the next. A message that was kept is in two of them. */
export interface Stretch {
  /** The compaction that it begins with; undefined where it is the session's beginning. */
  readonly boundary: CompactBoundaryEntry | undefined;
  /** Made anew each time: a session may have thousands of stretches, each of them as long as a conversation. */
  readonly entries: () => readonly Entry[];
}

/** Of what led to the conversation, oldest first, as far back as the session has everything. */
export function stretchesOf({ entries, boundaries, conversation }: Session): readonly Stretch[] {
  const index = indexEntries(entries);
  const walker = new ChainWalker(index);
  const seen = new Set<string>();
  let boundary: CompactBoundaryEntry | undefined = boundaries.find(({ isCurrent }) => isCurrent)?.boundary;
  const stretches: Stretch[] = [{ boundary, entries: () => conversation }];
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
 * A span as the messages that it stands for; it may hold earlier ones. Itself where they are not in the file. Each is
 * told once: spans that claim one another, or the same again and again, would never come to an end.
 */
function messagesOf(entry: Entry, byUuid: ByUuid, seen: Set<Entry> = new Set()): readonly Entry[] {
  seen.add(entry);
  const inside = collapsedUuids(entry).flatMap((uuid) => byUuid.get(uuid) ?? []);
  const messages = inside.flatMap((one) => (seen.has(one) ? [] : messagesOf(one, byUuid, seen)));
  return messages.length === 0 ? [entry] : messages;
}

/** All lines of a compaction name its boundary where we wrote it; other agents keep messages under their ids. */
function isRetold(entry: Entry, boundaries: ReadonlySet<string>): boolean {
  if (isCompactBoundary(entry) || isSummaryEntry(entry)) return true;
  return boundaries.has(stringField(entry, "writtenWith") ?? "");
}

/** Of a line on a branch that was left: the message that it copies, or where the branch leaves the conversation. */
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

/** A compaction that was undone lies on a branch that was left, and begins a tree of its own. */
const lineAbove = (entry: Entry | undefined): string | null | undefined =>
  entry !== undefined && isCompactBoundary(entry) ? entry.logicalParentUuid : entry?.parentUuid;
