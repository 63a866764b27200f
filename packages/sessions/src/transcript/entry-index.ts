import {
  field,
  IdTable,
  isCompactBoundary,
  isFromQueue,
  type Positions,
  stringField,
  turnedBack,
} from "@longhaul/core/internal/messages";
import type { CompactBoundaryEntry, Entry } from "@longhaul/core/messages";
import { withQueuedMessages } from "./message-queue.ts";
import { wholeLine } from "./released-line.ts";

/** What every walk over a session needs to look up, made in one pass over the entries in file order. */
export interface EntryIndex {
  readonly entries: readonly Entry[];
  /** Position in `entries` by uuid; where a uuid stands twice, the last line counts. */
  readonly positions: Positions;
  /** True if every uuid is known to be unique. */
  readonly hasUniqueIds: boolean;
  /** False while only the end of the file is known: a uuid that is not here may stand further up. */
  readonly isWholeFile: boolean;
  /** A subagent's own file has nothing but sidechain entries; there they are the main thread. */
  readonly hasMainThread: boolean;
  /** Positions of the finished compactions, oldest first. */
  readonly boundaries: readonly number[];
  /** Positions of messages that only the queue holds, oldest first. */
  readonly queued: readonly number[];
  /** Queue lines further up may belong to messages of this part: only the whole file tells. */
  readonly isQueueUncertain: boolean;
  /** The record of kept messages, by the position of the finished compaction that has one; oldest first. */
  readonly preserved: ReadonlyMap<number, Preserved>;
  /** Positions of boundaries that no message follows yet, and of the attachments below them. */
  readonly unfinished: ReadonlySet<number>;
}

/** @param known places of the lines by uuid, where it has been seen that none stands twice. */
export function indexEntries(lines: readonly Entry[], isWholeFile = true, known?: Positions): EntryIndex {
  const { entries, isUncertain: isQueueUncertain } = withQueuedMessages(lines, isWholeFile);
  const hasUniqueIds = entries === lines && known !== undefined;
  const positions = hasUniqueIds ? known : positionsOf(entries);
  const unfinished = new UnfinishedCompactions();
  const boundaries: number[] = [];
  const queued: number[] = [];
  let hasMainThread = false;
  for (let position = 0; position < entries.length; position++) {
    const entry = entries[position];
    if (entry === undefined || typeof entry.uuid !== "string") continue;
    if (!hasMainThread && entry.isSidechain !== true && canBeLeaf(entry)) hasMainThread = true;
    const finished = unfinished.add(entry, entry.uuid, position);
    if (finished !== undefined) boundaries.push(finished);
    if (isFromQueue(entry)) queued.push(position);
  }
  boundaries.sort((a, b) => a - b);
  return {
    entries,
    positions,
    hasUniqueIds,
    isWholeFile,
    hasMainThread,
    boundaries,
    preserved: preservedAt(entries, boundaries, positions),
    unfinished: unfinished.positions(),
    queued,
    isQueueUncertain,
  };
}

function positionsOf(entries: readonly Entry[]): Positions {
  const positions = new IdTable(entries, ({ uuid }) => uuid);
  for (let position = 0; position < entries.length; position++) {
    const uuid = entries[position]?.uuid;
    if (typeof uuid === "string") positions.set(uuid, position);
  }
  return positions;
}

/** A fork copies kept messages to their new place, below the boundary: there the record has nothing more to tell. */
function preservedAt(
  entries: readonly Entry[],
  boundaries: readonly number[],
  positions: Positions,
): ReadonlyMap<number, Preserved> {
  const found = new Map<number, Preserved>();
  for (const position of boundaries) {
    const boundary = entries[position];
    const preserved = boundary && isCompactBoundary(boundary) ? preservedBy(boundary) : undefined;
    if (preserved === undefined) continue;
    const first = positions.get(firstOf(preserved));
    if (first === undefined || first <= position) found.set(position, preserved);
  }
  return found;
}

/** Compactions whose writer may have died: of some only the boundary stands, of some also attachments below it. */
class UnfinishedCompactions {
  /** Positions by uuid, the boundary first; listed under the uuid of each line. */
  readonly #lines = new Map<string, Map<string, number>>();

  /** Returns the position of the boundary whose compaction this entry finishes. */
  add(entry: Entry, uuid: string, position: number): number | undefined {
    if (isCompactBoundary(entry)) {
      this.#lines.set(uuid, new Map([[uuid, position]]));
      return undefined;
    }
    if (this.#lines.size === 0 || typeof entry.parentUuid !== "string") return undefined;
    const lines = this.#lines.get(entry.parentUuid);
    if (lines === undefined) return undefined;
    if (entry.type === "attachment") {
      lines.set(uuid, position);
      this.#lines.set(uuid, lines);
      return undefined;
    }
    for (const key of lines.keys()) this.#lines.delete(key);
    return lines.values().next().value;
  }

  positions(): ReadonlySet<number> {
    const found = new Set<number>();
    for (const lines of new Set(this.#lines.values())) for (const at of lines.values()) found.add(at);
    return found;
  }
}

/** Kinds that the agent adds to its conversation. Progress lines are links of the tree but only for the screen. */
function canBeLeaf(entry: Entry): boolean {
  if (isFromQueue(entry)) return false;
  return (
    entry.type === "user" ||
    entry.type === "assistant" ||
    entry.type === "attachment" ||
    entry.type === "system"
  );
}

export function isOnMainThread(index: EntryIndex, entry: Entry): boolean {
  return typeof entry.uuid === "string" && (entry.isSidechain !== true || !index.hasMainThread);
}

/**
 * The newest entry that the agent would go on from. A boundary that no message follows is a compaction
 * whose writer died before the summary: starting there would lose the whole conversation.
 */
export function newestLeaf(index: EntryIndex, before: number = index.entries.length): number | undefined {
  if (!index.hasMainThread && !index.isWholeFile) return undefined;
  for (let position = before - 1; position >= 0; position--) {
    const entry = index.entries[position];
    if (entry === undefined || !canBeLeaf(entry) || !isOnMainThread(index, entry)) continue;
    if (index.unfinished.has(position)) continue;
    return position;
  }
  return undefined;
}

export function boundaryAt(index: EntryIndex, position: number): CompactBoundaryEntry | undefined {
  const entry = index.entries[position];
  return entry !== undefined && isCompactBoundary(entry) ? entry : undefined;
}

/** Position of the line with this uuid. `below`: a line that hangs on it; it mostly is the one above that. */
export function positionOf(index: EntryIndex, uuid: string, below: number): number | undefined {
  if (index.hasUniqueIds && index.entries[below - 1]?.uuid === uuid) return below - 1;
  return index.positions.get(uuid);
}

/**
 * As of when an entry's parent is to be read: what was written above this position had happened. After an undo that
 * is where the step was that it took back, after a rewind the prompt that it went back to.
 */
export function continuedBefore(index: EntryIndex, position: number): number {
  const entry = index.entries[position];
  const step = entry && index.positions.get(turnedBack(entry)?.before ?? "");
  return step !== undefined && step < position ? step : position;
}

/** The nearest entry of the main thread that stands above this one in the file. */
export function previousOnMainThread(
  index: EntryIndex,
  position: number,
  isTaken: (position: number) => boolean,
): number | undefined {
  for (let above = position - 1; above >= 0; above--) {
    const entry = index.entries[above];
    if (entry === undefined || isFromQueue(entry)) continue;
    if (isOnMainThread(index, entry) && !isTaken(above)) return above;
  }
  return undefined;
}

/** The messages that a compaction kept, as its boundary records them. They stay where they were in the file. */
interface Preserved {
  /** The line that the first kept message follows: the boundary or its summary. */
  readonly anchorUuid: string | undefined;
  /** Every kept line in order; undefined when the boundary names only the first and the last. */
  readonly uuids: readonly string[] | undefined;
  /** The first and the last kept line, between which a reader follows `parentUuid`. */
  readonly segment: { readonly headUuid: string; readonly tailUuid: string } | undefined;
}

/** Reads the record from a boundary, whose fields may hold anything. Undefined when nothing was kept. */
export function preservedBy(boundary: CompactBoundaryEntry): Preserved | undefined {
  const { preservedMessages, preservedSegment } = boundary.compactMetadata;
  const uuids = distinctStrings(field(preservedMessages, "uuids"));
  const headUuid = stringField(preservedSegment, "headUuid");
  const tailUuid = stringField(preservedSegment, "tailUuid");
  const segment = headUuid === undefined || tailUuid === undefined ? undefined : { headUuid, tailUuid };
  if (uuids === undefined && segment === undefined) return undefined;
  const listAnchor = uuids && stringField(preservedMessages, "anchorUuid");
  return { anchorUuid: listAnchor ?? stringField(preservedSegment, "anchorUuid"), uuids, segment };
}

/** The id of the first kept message. */
export const firstOf = ({ uuids, segment }: Preserved): string => uuids?.[0] ?? segment?.headUuid ?? "";

/** A list that is empty, repeats an id or holds something else describes no order that a reader could follow. */
function distinctStrings(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  if (!value.every((item) => typeof item === "string")) return undefined;
  return new Set(value).size === value.length ? value : undefined;
}

/** Indexes lines as a file has them, each uuid once. `repeats`: the number of lines that a later line replaces. */
export function indexLines(
  lines: readonly Entry[],
  isWholeFile = true,
): { readonly index: EntryIndex; readonly repeats: number } {
  const { entries, repeats, positions } = withoutRepeatedLines(lines);
  return { index: indexEntries(entries, isWholeFile, positions), repeats };
}

/**
 * Writers repeat a line to update it or to retry a write. The last line with a uuid has the content that the agent has.
 * The first one has the place in the conversation: a repeat neither rewinds the session nor moves a call behind its
 * result. A line never stands above its parent, so occurrences above the parent do not count as its place.
 *
 * Where nothing was repeated, the entries are the very list, and `positions` has their places by uuid.
 */
export function withoutRepeatedLines(entries: readonly Entry[]): {
  readonly entries: readonly Entry[];
  readonly repeats: number;
  readonly positions?: Positions;
} {
  const table = new IdTable(entries, ({ uuid }) => uuid);
  const repeated = repeatedPositions(entries, table);
  if (repeated.size === 0) return { entries, repeats: 0, positions: table };
  const placeOf = placesOfRepeated(entries, repeated, table);
  let repeats = 0;
  const unique = entries.flatMap((entry, at) => {
    const positions = repeated.get(entry.uuid ?? "");
    if (positions === undefined) return [entry];
    if (placeOf(entry.uuid ?? "") === at)
      return [ofItsWrite(entries[positions.at(-1) ?? at] ?? entry, entries[positions[0] ?? at] ?? entry)];
    repeats += 1;
    return [];
  });
  return { entries: unique, repeats };
}

/** The line of a compaction or an undo is part of it, also if the host's change wrote it again. */
function ofItsWrite(last: Entry, first: Entry): Entry {
  const writtenWith = stringField(first, "writtenWith");
  if (writtenWith === undefined || stringField(last, "writtenWith") !== undefined) return last;
  return { ...wholeLine(last), writtenWith } as Entry;
}

type Repeated = ReadonlyMap<string, readonly number[]>;

/** All positions of each uuid that occurs more than once, oldest first. Fills the table on the way. */
function repeatedPositions(entries: readonly Entry[], table: IdTable<Entry>): Repeated {
  const repeated = new Map<string, number[]>();
  for (let at = 0; at < entries.length; at++) {
    const uuid = entries[at]?.uuid;
    if (typeof uuid !== "string") continue;
    const before = table.set(uuid, at);
    if (before === undefined) continue;
    if (repeated.get(uuid)?.push(at) === undefined) repeated.set(uuid, [before, at]);
  }
  return repeated;
}

/** The place of a line by its uuid. Parents may be repeated too, in runs of any length, and may form a circle. */
function placesOfRepeated(
  entries: readonly Entry[],
  repeated: Repeated,
  table: Positions,
): (uuid: string) => number | undefined {
  /** Of repeated lines, as far as they are known. */
  const places = new Map<string, number>();
  const known = (uuid: string): number | undefined =>
    repeated.has(uuid) ? places.get(uuid) : table.get(uuid);
  return (uuid) => {
    const descent = new Set<string>();
    let above: string | undefined = uuid;
    while (above !== undefined && repeated.has(above) && !places.has(above) && !descent.has(above)) {
      descent.add(above);
      const last: Entry | undefined = entries[repeated.get(above)?.at(-1) ?? -1];
      above = last && parentOf(last);
    }
    let parent = known(above ?? "") ?? -1;
    for (const line of [...descent].reverse()) {
      const positions = repeated.get(line) ?? [];
      parent = positions.find((at) => at > parent) ?? positions[0] ?? -1;
      places.set(line, parent);
    }
    return known(uuid);
  };
}

export const parentOf = ({ parentUuid }: Entry): string | undefined =>
  typeof parentUuid === "string" ? parentUuid : undefined;
