import { isCompactBoundary, isSummaryEntry } from "@longhaul/core/internal/messages";
import type { CompactBoundaryEntry, Entry } from "@longhaul/core/messages";
import { isMoreNeeded, type MoreNeeded } from "./chain-walker.ts";
import { type EntryIndex, firstOf, parentOf, preservedBy } from "./entry-index.ts";
import {
  BOUNDARY_MARK,
  cachingTail,
  lastLineWith,
  lastLineWithAny,
  lineStartAt,
  RESPONSE_MARK,
  type ReadAt,
} from "./file-bytes.ts";
import {
  indexWithoutDuplicates,
  isOfSubagent,
  modelIn,
  type ReadEntries,
  readEntries,
  type SessionFacts,
  sessionFacts,
} from "./load.ts";
import { asConversation, linesFrom } from "./relink.ts";
import { type OpenSessionFile, refuseForeignFile, withSessionFile } from "./session-file.ts";

/** Session file that was read from its end upward, to the start of the conversation. */
export interface ResumedSession extends SessionFacts {
  readonly boundary: CompactBoundaryEntry | undefined;
  readonly bytesRead: number;
}

/**
 * Opens a session to continue it. Reads upward from the end of the file and stops at the start of the
 * conversation, so that the size of the file does not matter. Returns the same conversation as a full load.
 */
export function resumeSession(path: string): Promise<ResumedSession> {
  return withSessionFile(path, (file) => resumeFrom(file, path));
}

/** Resumes a session from an open file. Ignores everything after the first `file.bytes` bytes. */
export async function resumeFrom(file: OpenSessionFile, path: string): Promise<ResumedSession> {
  const { bytes } = file;
  const readAt = cachingTail(file.readAt, bytes);
  let known: ReadEntries = { entries: [], damage: [] };
  let from = bytes;
  let needs: MoreNeeded["needs"] = "boundary";
  for (let attempt = 0; ; attempt++) {
    const to = from;
    from = await startOf(readAt, needs, to, attempt < 2 ? 0 : bytes - to);
    const above = await readEntries(readAt, { from, to }, path);
    known = {
      entries: [...above.entries, ...known.entries],
      damage: [...above.damage, ...known.damage],
    };
    const { index, damage } = indexWithoutDuplicates(known, from === 0);
    const { entries } = index;
    const lines = linesFrom(index);
    if (isMoreNeeded(lines)) {
      needs = lines.needs;
      continue;
    }
    const repeated = await repeatedAbove(file.readAt, from, index, lines.lines);
    if (repeated !== undefined) {
      needs = repeated;
      continue;
    }
    const found = asConversation(lines);
    if (found.entries.length === 0) refuseForeignFile(path, entries, damage);
    const facts = sessionFacts(path, bytes, entries, found);
    const model = facts.model ?? (await modelAbove(readAt, from, path, isOfSubagent(found.entries)));
    return { ...facts, model, boundary: found.boundary, damage, bytesRead: bytes - from };
  }
}

/** Returns the model of the newest response above a position, for a conversation without responses. */
async function modelAbove(
  readAt: ReadAt,
  before: number,
  path: string,
  isSubagent: boolean,
): Promise<string | undefined> {
  for (let to = before; ; ) {
    const from = await lastLineWith(readAt, RESPONSE_MARK, to);
    if (from === undefined) return undefined;
    const { entries } = await readEntries(readAt, { from, to }, path);
    const model = modelIn(entries, isSubagent);
    if (model !== undefined) return model;
    to = from;
  }
}

/**
 * Returns the position at which to start reading.
 * @param atLeast minimum number of bytes to read upward. To avoid many small steps, the caller passes the
 * number of bytes that it has read so far.
 */
async function startOf(
  readAt: ReadAt,
  needs: MoreNeeded["needs"],
  before: number,
  atLeast: number,
): Promise<number> {
  if (needs === "whole-file") return 0;
  const mark = needs === "boundary" ? BOUNDARY_MARK : uuidMark(needs.uuid);
  const line = await lastLineWith(readAt, mark, before);
  if (line === undefined) return 0;
  const wanted = Math.max(0, before - atLeast);
  return wanted < line ? lineStartAt(readAt, wanted) : line;
}

const uuidMark = (uuid: string): Buffer => Buffer.from(`"uuid":${JSON.stringify(uuid)}`);

/**
 * Size in bytes of the range in which to search for repeated lines. The range is directly above the part of
 * the file that was read. Nearly every session is shorter than this, and the search takes a few milliseconds.
 * The limit exists because the time to resume must not grow with the file.
 */
const FARTHEST_REPEAT_BYTES = 8 * 1024 * 1024;

/**
 * Maximum number of lines whose repeats are searched for. An intact session has at most two such lines: the
 * boundary and the first kept message.
 */
const MAX_SEARCHED_LINES = 8;

/**
 * Finds a line of the conversation that also occurs above `before`, in the part that was not read. If there
 * is such an upper occurrence, it decides the position of the line. The search skips lines that are below
 * their parents, because such lines have their position in the part that was read.
 */
async function repeatedAbove(
  readAt: ReadAt,
  before: number,
  index: EntryIndex,
  lines: readonly Entry[],
): Promise<MoreNeeded["needs"] | undefined> {
  if (before === 0) return undefined;
  const searched = linesWithoutParent(index, lines);
  if (searched.length === 0) return undefined;
  if (searched.length > MAX_SEARCHED_LINES) return "whole-file";
  const marks = searched.map(uuidMark);
  const found = await lastLineWithAny(readAt, marks, before, Math.max(0, before - FARTHEST_REPEAT_BYTES));
  return found && { uuid: searched[found.nth] ?? "" };
}

/**
 * Returns the uuids of lines whose parent is not above them. Checks the given lines, the lines of
 * compactions, the first kept messages, and the ancestors of all these.
 */
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

/**
 * Yields the first kept message of each boundary, if the part that was read contains it. Such a message can
 * be below its boundary, as a copy of a fork or as a repeated line.
 */
function* keptLinesBelow({ entries, positions, boundaries }: EntryIndex): Generator<Entry> {
  for (const position of boundaries) {
    const boundary = entries[position];
    const preserved = boundary && isCompactBoundary(boundary) ? preservedBy(boundary) : undefined;
    const kept = preserved && entries[positions.get(firstOf(preserved)) ?? -1];
    if (kept !== undefined) yield kept;
  }
}

/**
 * Yields the lines of each compaction: the boundary, its attachments and its summary. Also yields the first
 * line after them.
 */
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
