import { type Entry, isCompactBoundary, isSummaryEntry } from "../conversation/entry.ts";
import { IdTable, type Positions } from "../conversation/id-table.ts";
import { stringField } from "../conversation/untrusted.ts";
import type { EntryIndex } from "./entry-index.ts";
import { firstOf, preservedBy } from "./preserved.ts";
import { wholeLine } from "./released-line.ts";
import { lastLineWithAny } from "./search-backwards.ts";
import type { ReadAt } from "./session-file.ts";

export interface UniqueEntries {
  /** Each uuid once. The very list where nothing was repeated. */
  readonly entries: readonly Entry[];
  readonly repeats: number;
  /** Places in `entries` by uuid, where nothing was repeated. */
  readonly positions?: Positions;
}

/**
 * Writers repeat a line to update it or to retry a write. The last line with a uuid has the content that the agent has.
 * The first one has the place in the conversation: a repeat neither rewinds the session nor moves a call behind its
 * result. A line never stands above its parent, so occurrences above the parent do not count as its place.
 */
export function withoutRepeatedLines(entries: readonly Entry[]): UniqueEntries {
  const table = new IdTable(entries, ({ uuid }) => uuid);
  const repeated = repeatedPositions(entries, table);
  if (repeated.size === 0) return { entries, repeats: 0, positions: table };
  const places = new Places(entries, repeated, table);
  let repeats = 0;
  const unique = entries.flatMap((entry, at) => {
    const positions = repeated.get(entry.uuid ?? "");
    if (positions === undefined) return [entry];
    if (places.of(entry.uuid ?? "") === at)
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

class Places {
  readonly #entries: readonly Entry[];
  readonly #repeated: Repeated;
  readonly #table: Positions;
  /** Of repeated lines, as far as they are known. */
  readonly #places = new Map<string, number>();

  constructor(entries: readonly Entry[], repeated: Repeated, table: Positions) {
    this.#entries = entries;
    this.#repeated = repeated;
    this.#table = table;
  }

  /** Parents may be repeated too, in runs of any length, and may form a circle. */
  of(uuid: string): number | undefined {
    const descent: string[] = [];
    const seen = new Set<string>();
    let above: string | undefined = uuid;
    while (above !== undefined && this.#repeated.has(above) && !this.#places.has(above) && !seen.has(above)) {
      seen.add(above);
      descent.push(above);
      above = this.#parentOf(above);
    }
    let parent = this.#known(above ?? "") ?? -1;
    for (const line of descent.reverse()) {
      const positions = this.#repeated.get(line) ?? [];
      parent = positions.find((at) => at > parent) ?? positions[0] ?? -1;
      this.#places.set(line, parent);
    }
    return this.#known(uuid);
  }

  #known(uuid: string): number | undefined {
    return this.#repeated.has(uuid) ? this.#places.get(uuid) : this.#table.get(uuid);
  }

  #parentOf(uuid: string): string | undefined {
    const last = this.#entries[this.#repeated.get(uuid)?.at(-1) ?? -1];
    return last === undefined ? undefined : parentOf(last);
  }
}

const parentOf = ({ parentUuid }: Entry): string | undefined =>
  typeof parentUuid === "string" ? parentUuid : undefined;

/**
 * How far above the part that was read a repeated line is searched for. Longer than nearly every session, and a few
 * milliseconds of searching: the time to resume must not grow with the file.
 */
const FARTHEST_REPEAT_BYTES = 8 * 1024 * 1024;
/** A sound session has two at most: the boundary and the first kept message. */
const MOST_SEARCHED_LINES = 8;

/**
 * For a reader that has read the end of a file only: a line of the conversation that also stands above `before`, where
 * its place is. A line below its parent has its place in what was read. The others are searched for.
 */
export async function repeatedAbove(
  readAt: ReadAt,
  before: number,
  index: EntryIndex,
  lines: readonly Entry[],
): Promise<string | "too-many" | undefined> {
  if (before === 0) return undefined;
  const searched = linesWithoutParent(index, lines);
  if (searched.length === 0) return undefined;
  if (searched.length > MOST_SEARCHED_LINES) return "too-many";
  const marks = searched.map((uuid) => Buffer.from(`"uuid":${JSON.stringify(uuid)}`));
  const found = await lastLineWithAny(readAt, marks, before, Math.max(0, before - FARTHEST_REPEAT_BYTES));
  return found === undefined ? undefined : searched[found.nth];
}

/** Of the lines, the compactions, kept messages and what leads to them: those whose parent does not stand above them. */
function linesWithoutParent(index: EntryIndex, lines: readonly Entry[]): readonly string[] {
  const { entries, positions } = index;
  const seen = new Set<number>();
  const found: string[] = [];
  for (const line of [...lines, ...linesOfCompactions(entries), ...keptLinesBelow(index)]) {
    let at = positions.get(line.uuid ?? "");
    while (at !== undefined && !seen.has(at)) {
      seen.add(at);
      const entry: Entry | undefined = entries[at];
      const parent: number | undefined = positions.get((entry && parentOf(entry)) ?? "");
      if (entry?.uuid !== undefined && (parent === undefined || parent >= at)) found.push(entry.uuid);
      at = parent;
    }
  }
  return found;
}

/** First kept messages that stand below the boundary that names them: copies of a fork, or lines that are repeated. */
function* keptLinesBelow({ entries, positions, boundaries }: EntryIndex): Generator<Entry> {
  for (const position of boundaries) {
    const boundary = entries[position];
    const preserved = boundary && isCompactBoundary(boundary) ? preservedBy(boundary) : undefined;
    const kept = preserved && entries[positions.get(firstOf(preserved)) ?? -1];
    if (kept !== undefined) yield kept;
  }
}

/** Boundaries, attachments below them, their summaries, and the line that ends each summary. */
function* linesOfCompactions(entries: readonly Entry[]): Generator<Entry> {
  let isInside = false;
  for (const entry of entries) {
    const isBoundary = isCompactBoundary(entry);
    if (entry.uuid !== undefined && (isInside || isBoundary)) {
      yield entry;
      isInside = isBoundary || isSummaryEntry(entry) || entry.type === "attachment";
    }
  }
}
