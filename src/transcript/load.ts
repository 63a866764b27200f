import type { Entry } from "../conversation/entry.ts";
import type { Damage } from "./damage.ts";
import { EntryReader } from "./entry-reader.ts";
import { currentConversation } from "./relink.ts";
import { boundariesOf, refuseForeignFile, type Session, sessionFacts } from "./session.ts";
import { type ReadAt, withSessionFile } from "./session-file.ts";
import { LineSplitter } from "./split-lines.ts";

/** Large enough that the calls cost nothing beside JSON.parse, small enough not to matter in memory. */
const CHUNK_BYTES = 1024 * 1024;

/** A file that begins with this many lines of garbage is no session, however long it is. */
const MOST_DAMAGED_LINES_AT_START = 1_000;

export interface LoadOptions {
  /** Called after each chunk; `done` of `total` bytes have been read. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Reads a whole session file: every entry in it, and the conversation that the agent has now. */
export function loadSession(path: string, options: LoadOptions = {}): Promise<Session> {
  return withSessionFile(path, async ({ readAt, bytes }) => {
    const read = await readEntries(readAt, { from: 0, to: bytes }, path, options);
    const { entries, damage } = withoutDuplicates(read);
    const conversation = currentConversation(entries);
    if (conversation.entries.length === 0) refuseForeignFile(path, entries, damage);
    return {
      ...sessionFacts(path, bytes, entries, conversation),
      entries,
      boundaries: boundariesOf(entries, conversation.boundary),
      damage,
    };
  });
}

export interface ReadEntries {
  readonly entries: readonly Entry[];
  readonly damage: readonly Damage[];
}

export interface FileRange {
  readonly from: number;
  /** Lines that a running agent adds behind this do not come in half. */
  readonly to: number;
}

/** The entries of whole lines: the range must begin where a line begins. */
export async function readEntries(
  readAt: ReadAt,
  range: FileRange,
  path: string,
  { onProgress }: LoadOptions = {},
): Promise<ReadEntries> {
  const reader = new EntryReader(range.from === 0 ? 1 : undefined);
  const splitter = new LineSplitter(reader.read, range.from);
  const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, range.to - range.from));
  for (let position = range.from; position < range.to; ) {
    const length = await readAt(buffer.subarray(0, range.to - position), position);
    if (length === 0) break;
    splitter.push(buffer.subarray(0, length));
    position += length;
    onProgress?.(position - range.from, range.to - range.from);
    if (reader.entries.length === 0 && reader.damage.length > MOST_DAMAGED_LINES_AT_START) {
      refuseForeignFile(path, [], reader.damage);
    }
  }
  splitter.end();
  return reader;
}

/** A line that is written again is an update or a retry: the last one is what the agent has. */
export function withoutDuplicates({ entries, damage }: ReadEntries): ReadEntries {
  const uuids = new Set<string>();
  let linked = 0;
  for (const { uuid } of entries) {
    if (uuid === undefined) continue;
    uuids.add(uuid);
    linked++;
  }
  const repeated = linked - uuids.size;
  if (repeated === 0) return { entries, damage };
  const kept: Entry[] = [];
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry === undefined || (entry.uuid !== undefined && !uuids.delete(entry.uuid))) continue;
    kept.push(entry);
  }
  const note: Damage = { kind: "duplicate-uuid", line: undefined, offset: undefined, bytes: 0 };
  return { entries: kept.reverse(), damage: [...damage, ...Array.from({ length: repeated }, () => note)] };
}
