import {
  field,
  IdTable,
  isCompactBoundary,
  isFromQueue,
  type Positions,
  rewindRecordOf,
  stringField,
} from "@longhaul/core/internal/messages";
import type { CompactBoundaryEntry, Entry } from "@longhaul/core/messages";
import { withQueuedMessages } from "./message-queue.ts";
import { wholeLine } from "./released-line.ts";

/** Lookup tables for every walk over a session, built in one pass over the entries in file order. */
export interface EntryIndex {
  readonly entries: readonly Entry[];
  /** Position in `entries` by uuid. If a uuid occurs twice, the last line counts. */
  readonly positions: Positions;
  /** True if every uuid is known to be unique. */
  readonly hasUniqueIds: boolean;
  /** False if only the end of the file is known. In that case, a missing uuid may be further up. */
  readonly isWholeFile: boolean;
  /** False for a subagent's own file, which has only sidechain entries. They are the main thread there. */
  readonly hasMainThread: boolean;
  /** Positions of finished compactions, oldest first. */
  readonly boundaries: readonly number[];
  /** Positions of messages that only the queue contains, oldest first. */
  readonly queued: readonly number[];
  /**
   * True if only a part of the file was read, and queue lines above that part may belong to messages in it.
   * Only the whole file shows whether they do.
   */
  readonly isQueueUncertain: boolean;
  /**
   * Records of the messages that finished compactions kept, oldest first. The key is the position of the
   * boundary.
   */
  readonly preserved: ReadonlyMap<number, Preserved>;
  /** Positions of boundaries that no message follows yet, and of the attachments below them. */
  readonly unfinished: ReadonlySet<number>;
}

/**
 * Indexes lines.
 * @param known positions by uuid, if it is known that no uuid occurs twice
 */
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

/**
 * Returns the records of kept messages. The key is the position of the boundary. Omits obsolete records. A
 * record is obsolete if a fork copied the kept messages to a position below the boundary.
 */
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

/**
 * Compactions whose writer may have crashed. Some of them have only a boundary. Others also have attachments
 * below it.
 */
class UnfinishedCompactions {
  /**
   * Lines of unfinished compactions. The key is the uuid of any line of a compaction, the value has all lines
   * of that compaction. In this inner map, the key is the uuid of a line, and the value is its position. The
   * boundary is the first item.
   */
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

/**
 * Returns true for types of entries that the agent adds to its conversation. Progress lines are links of the
 * tree, but only for display.
 */
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
 * Returns the newest entry from which the agent would continue. Skips a boundary that no message follows. The
 * writer of such a boundary crashed before the summary, so starting there would lose the whole conversation.
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

/**
 * Returns the position of the line with this uuid.
 * @param below position of a child of that line, usually the position directly below the line
 */
export function positionOf(index: EntryIndex, uuid: string, below: number): number | undefined {
  if (index.hasUniqueIds && index.entries[below - 1]?.uuid === uuid) return below - 1;
  return index.positions.get(uuid);
}

/**
 * Returns the position at which the history of an entry ends. Only lines above this position count in the
 * search for its parent. After an undo, this is the position of the undone step. After a rewind, this is the
 * position of the prompt to which the session was rewound.
 */
export function continuedBefore(index: EntryIndex, position: number): number {
  const entry = index.entries[position];
  const step = entry && index.positions.get(rewindRecordOf(entry)?.before ?? "");
  return step !== undefined && step < position ? step : position;
}

/** Returns the nearest entry of the main thread above this one in the file. */
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

/** Record of the messages that a compaction kept. They stay at their old position in the file. */
interface Preserved {
  /** Line that the first kept message follows: the boundary or its summary. */
  readonly anchorUuid: string | undefined;
  /** All kept lines in order. Undefined if the boundary names only the first and the last line. */
  readonly uuids: readonly string[] | undefined;
  /** First and last kept line. A reader follows `parentUuid` between them. */
  readonly segment: { readonly headUuid: string; readonly tailUuid: string } | undefined;
}

/**
 * Reads the record from a boundary, whose fields may contain anything. Returns undefined if nothing was kept.
 */
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

/** Returns the id of the first kept message. */
export const firstOf = ({ uuids, segment }: Preserved): string => uuids?.[0] ?? segment?.headUuid ?? "";

/**
 * Returns a list of distinct strings. Returns undefined if the list is empty, repeats an id or contains other
 * values, because the order of such a list is not usable.
 */
function distinctStrings(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  if (!value.every((item) => typeof item === "string")) return undefined;
  return new Set(value).size === value.length ? value : undefined;
}

/**
 * Indexes the lines of a file, each uuid once. `repeats` is the number of lines that a later line replaces.
 */
export function indexLines(
  lines: readonly Entry[],
  isWholeFile = true,
): { readonly index: EntryIndex; readonly repeats: number } {
  const { entries, repeats, positions } = withoutRepeatedLines(lines);
  return { index: indexEntries(entries, isWholeFile, positions), repeats };
}

/**
 * Removes repeated lines. Writers repeat a line to update it or to retry a write. If several lines have the
 * same uuid, the last one has the agent's content. The first one has the position in the conversation. So a
 * repeated line neither rewinds the session nor moves a call after its result. A line always follows its
 * parent, so occurrences above the parent do not count.
 *
 * If nothing is repeated, returns the same list, and `positions` by uuid.
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
      return [keepWriteMark(entries[positions.at(-1) ?? at] ?? entry, entries[positions[0] ?? at] ?? entry)];
    repeats += 1;
    return [];
  });
  return { entries: unique, repeats };
}

/**
 * Keeps the `writtenWith` mark of a repeated line. If the host changed the line, it may have been written
 * again without the mark. The line still belongs to its compaction or undo.
 */
function keepWriteMark(last: Entry, first: Entry): Entry {
  const writtenWith = stringField(first, "writtenWith");
  if (writtenWith === undefined || stringField(last, "writtenWith") !== undefined) return last;
  return { ...wholeLine(last), writtenWith } as Entry;
}

type Repeated = ReadonlyMap<string, readonly number[]>;

/** Returns all positions of each uuid that occurs more than once, oldest first. Also fills the table. */
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

/**
 * Returns a function that finds the position of a line by its uuid, even if the line is repeated. The parent
 * of a repeated line may be repeated too. Such chains of parents can have any length, and can even be
 * circles.
 */
function placesOfRepeated(
  entries: readonly Entry[],
  repeated: Repeated,
  table: Positions,
): (uuid: string) => number | undefined {
  /** Known positions of repeated lines. */
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
