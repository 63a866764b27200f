import type { Entry } from "../conversation/entry.ts";
import { withoutTornWrites } from "../conversation/one-write.ts";
import type { Damage } from "./damage.ts";
import { type EntryIndex, indexEntries } from "./entry-index.ts";
import { EntryReader, type HoldEntry } from "./entry-reader.ts";
import { type FileRange, readLines } from "./read-lines.ts";
import { LineReleaser } from "./released-line.ts";
import { conversationOf } from "./relink.ts";
import { withoutRepeatedLines } from "./repeated-lines.ts";
import { BOUNDARY_MARK, lastLineWith } from "./search-backwards.ts";
import { boundariesOf, refuseForeignFile, type Session, sessionFacts } from "./session.ts";
import { type ReadAt, withSessionFile } from "./session-file.ts";

/** A file that begins with this many lines of garbage is no session, however long it is. */
const MOST_DAMAGED_LINES_AT_START = 1_000;

export interface LoadOptions {
  /** Called after each chunk; `done` of `total` bytes have been read. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Reads a whole session file: every entry in it, and the conversation that the agent has now. */
export function loadSession(path: string, options: LoadOptions = {}): Promise<Session> {
  return load(path, options);
}

/**
 * The same with less memory: above the newest compaction, entries hold their links and read the rest from the file when
 * it is asked for. For readers that ask few entries outside the conversation for their content, and write nothing.
 */
export function loadSparsely(path: string, options: LoadOptions = {}): Promise<Session> {
  return load(path, options, async (readAt, bytes) => {
    // If the line is no boundary after all, the conversation reads its lines again.
    const boundary = await lastLineWith(readAt, BOUNDARY_MARK, bytes);
    return boundary === undefined ? undefined : new LineReleaser(path, boundary).hold;
  });
}

type HoldChoice = (readAt: ReadAt, bytes: number) => Promise<HoldEntry | undefined>;

function load(path: string, options: LoadOptions, choose?: HoldChoice): Promise<Session> {
  return withSessionFile(path, async ({ readAt, bytes }) => {
    const hold = await choose?.(readAt, bytes);
    const read = await readEntries(readAt, { from: 0, to: bytes }, path, options, hold);
    const { index, lines, damage } = indexWithoutDuplicates(read);
    const { entries } = index;
    const conversation = conversationOf(index);
    if (conversation.entries.length === 0) refuseForeignFile(path, entries, damage);
    return {
      ...sessionFacts(path, bytes, entries, conversation),
      entries,
      lines,
      boundaries: boundariesOf(entries, conversation.boundary),
      damage,
    };
  });
}

export interface ReadEntries {
  readonly entries: readonly Entry[];
  readonly damage: readonly Damage[];
}

/** The entries of whole lines: the range must begin where a line begins. */
export async function readEntries(
  readAt: ReadAt,
  range: FileRange,
  path: string,
  { onProgress }: LoadOptions = {},
  hold?: HoldEntry,
): Promise<ReadEntries> {
  const reader = new EntryReader(range.from === 0 ? 1 : undefined, hold);
  await readLines(readAt, range, reader.read, (position) => {
    onProgress?.(position - range.from, range.to - range.from);
    if (reader.entries.length === 0 && reader.damage.length > MOST_DAMAGED_LINES_AT_START) {
      refuseForeignFile(path, [], reader.damage);
    }
  });
  return reader;
}

export interface IndexedEntries {
  readonly index: EntryIndex;
  /** All entries in the order of the file, also those that a later line repeats. */
  readonly lines: readonly Entry[];
  readonly damage: readonly Damage[];
}

/** Each uuid once, and without writes that were never finished. */
export function indexWithoutDuplicates(
  { entries: read, damage }: ReadEntries,
  isWholeFile = true,
): IndexedEntries {
  const lines = withoutTornWrites(read);
  const { entries, repeats, positions } = withoutRepeatedLines(lines);
  const index = indexEntries(entries, isWholeFile, positions);
  if (repeats === 0) return { index, lines, damage };
  const note: Damage = { kind: "duplicate-uuid", line: undefined, offset: undefined, bytes: 0 };
  return { index, lines, damage: [...damage, ...Array.from({ length: repeats }, () => note)] };
}
