import { basename } from "node:path";
import {
  isCompactBoundary,
  keptMessagesAfterBoundary,
  recordedModel,
  respondingModel,
  stringField,
  withoutTornWrites,
} from "@longhaul/core/internal/messages";
import type { CompactBoundaryEntry, Entry } from "@longhaul/core/messages";
import { type EntryIndex, indexLines } from "./entry-index.ts";
import { type Damage, EntryReader, type HoldEntry } from "./entry-reader.ts";
import { BOUNDARY_MARK, type FileRange, lastLineWith, type ReadAt, readLines } from "./file-bytes.ts";
import { lineReleaser } from "./released-line.ts";
import { type Conversation, conversationOf } from "./relink.ts";
import { refuseForeignFile, withSessionFile } from "./session-file.ts";

/** Facts about a session file, whether it was read in full or only at its end. */
export interface SessionFacts extends Pick<Conversation, "leafUuid" | "clearedToolUseIds" | "bridgedUuids"> {
  readonly id: string;
  readonly path: string;
  /** Size of the file when it was read. Pass it to {@link openTranscript} as `expectedBytes`. */
  readonly bytes: number;
  /** Current context of the agent, oldest first. */
  readonly conversation: readonly Entry[];
  readonly damage: readonly Damage[];
  /** Working directory in the newest entries. The fields below also come from the newest entries. */
  readonly cwd: string | undefined;
  readonly version: string | undefined;
  readonly gitBranch: string | undefined;
  readonly model: string | undefined;
}

/** Session file that was read in full. */
export interface Session extends SessionFacts {
  /** All entries of the file in order, including unknown types. */
  readonly entries: readonly Entry[];
  /**
   * All entries, including repeated ones. A later line may repeat an earlier line, for example to change it.
   */
  readonly lines?: readonly Entry[];
  /** All compactions in the file, including those on abandoned branches. */
  readonly boundaries: readonly SessionBoundary[];
}

export interface SessionBoundary {
  readonly boundary: CompactBoundaryEntry;
  /** Index in the session's entries. */
  readonly index: number;
  /** True if the current conversation starts at this boundary. */
  readonly isCurrent: boolean;
}

export interface LoadOptions {
  /** Called after each chunk. `done` of `total` bytes have been read. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Reads a whole session file: all its entries, and the agent's current conversation. */
export function loadSession(path: string, options: LoadOptions = {}): Promise<Session> {
  return load(path, options, false);
}

/**
 * Reads a session with less memory. Entries above the newest compaction keep only their links, and read all
 * other fields from the file on access. Use it if you need the content of few entries outside the
 * conversation and write nothing.
 */
export function loadSparsely(path: string, options: LoadOptions = {}): Promise<Session> {
  return load(path, options, true);
}

function load(path: string, options: LoadOptions, isSparse: boolean): Promise<Session> {
  return withSessionFile(path, async ({ readAt, bytes }) => {
    // If the found line turns out not to be a boundary, lines of the conversation are read from the file
    // again.
    const newest = isSparse ? await lastLineWith(readAt, BOUNDARY_MARK, bytes) : undefined;
    const hold = newest === undefined ? undefined : lineReleaser(path, newest);
    const read = await readEntries(readAt, { from: 0, to: bytes }, path, options, hold);
    const { index, lines, damage } = indexWithoutDuplicates(read);
    const { entries } = index;
    const conversation = conversationOf(index);
    if (conversation.entries.length === 0) refuseForeignFile(path, entries, damage);
    const boundaries: SessionBoundary[] = [];
    for (const [index, boundary] of entries.entries()) {
      if (!isCompactBoundary(boundary)) continue;
      boundaries.push({ boundary, index, isCurrent: boundary === conversation.boundary });
    }
    return { ...sessionFacts(path, bytes, entries, conversation), entries, lines, boundaries, damage };
  });
}

/**
 * Maximum number of damaged lines at the start. A file with more is not a session, no matter how long it is.
 */
const MAX_DAMAGED_LINES_AT_START = 1_000;

export type ReadEntries = Pick<Session, "entries" | "damage">;

/** Reads the entries of whole lines. The range must start at a line. */
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
    if (reader.entries.length === 0 && reader.damage.length > MAX_DAMAGED_LINES_AT_START) {
      refuseForeignFile(path, [], reader.damage);
    }
  });
  return reader;
}

/** Indexes each uuid once, without unfinished writes. `lines` includes the repeated lines. */
export function indexWithoutDuplicates(
  { entries, damage }: ReadEntries,
  isWholeFile = true,
): { readonly index: EntryIndex; readonly lines: readonly Entry[]; readonly damage: readonly Damage[] } {
  const lines = withoutTornWrites(entries);
  const { index, repeats } = indexLines(lines, isWholeFile);
  if (repeats === 0) return { index, lines, damage };
  const note: Damage = { kind: "duplicate-uuid", line: undefined, offset: undefined, bytes: 0 };
  return { index, lines, damage: [...damage, ...Array.from({ length: repeats }, () => note)] };
}

export function sessionFacts(
  path: string,
  bytes: number,
  entries: readonly Entry[],
  { entries: conversation, leafUuid, clearedToolUseIds, bridgedUuids }: Conversation,
): Omit<SessionFacts, "damage"> {
  const newest = conversation.length > 0 ? conversation : entries;
  const { sessionId = basename(path, ".jsonl"), ...latest } = latestFields(newest);
  const model = modelIn(newest, true) ?? modelIn(entries, isOfSubagent(conversation));
  const current = { conversation, leafUuid, clearedToolUseIds, bridgedUuids };
  return { id: sessionId, path, bytes, ...current, ...latest, model };
}

/**
 * Returns the model of a session. The model comes from the newest response in these lines, or from a
 * boundary. If a boundary kept messages, its record is newer than these messages. Subagents may use another
 * model than the session.
 */
export function modelIn(entries: readonly Entry[], isSubagent: boolean): string | undefined {
  const kept = keptMessagesAfterBoundary(entries);
  let ofKept: string | undefined;
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry === undefined || (entry.isSidechain === true && !isSubagent)) continue;
    const recorded = recordedModel(entry);
    if (recorded !== undefined) return recorded;
    const model = respondingModel(entry);
    if (model !== undefined && !kept.has(entry)) return ofKept ?? model;
    ofKept ??= model;
  }
  return ofKept;
}

/** Checks whether a conversation comes from a subagent's own file. Such a file has only sidechain entries. */
export const isOfSubagent = (conversation: readonly Entry[]): boolean =>
  conversation.some(({ isSidechain }) => isSidechain === true);

/** Returns the newest folder, branch and version, because they may change during a session. */
function latestFields(
  entries: readonly Entry[],
): Pick<SessionFacts, "cwd" | "version" | "gitBranch"> & { readonly sessionId: string | undefined } {
  let [cwd, version, gitBranch, sessionId]: (string | undefined)[] = [];
  let hasResponse = false;
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry === undefined) continue;
    cwd ??= stringField(entry, "cwd");
    version ??= stringField(entry, "version");
    gitBranch ??= stringField(entry, "gitBranch");
    sessionId ??= stringField(entry, "sessionId");
    hasResponse ||= respondingModel(entry) !== undefined;
    if (hasResponse && cwd !== undefined && sessionId !== undefined) break;
  }
  return { cwd, version, gitBranch, sessionId };
}
