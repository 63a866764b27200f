import {
  isCollapseMark,
  isCompactBoundary,
  isMicrocompactBoundary,
  isStandIn,
  isSummaryEntry,
  rewindRecordOf,
  stringField,
} from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import type { SessionFacts } from "../transcript/load.ts";
import { damaged } from "./dictionary.ts";
import { hasThinking } from "./documents.ts";
import { type DocumentRecord, MARKS, nameOf, type Segment, uuidHashes } from "./segment.ts";

/** Flags for the relation of a document to the current conversation, one byte per document. */
export const STATUS = {
  /** The agent's context contains the document. */
  inContext: 1,
  /** A repeated line, or a copy of another document. */
  repeated: 2,
  /** The document restates other documents, for example as a summary. */
  retold: 4,
  /** A person or the agent wrote the document as a message. */
  spoken: 8,
  person: 16,
} as const;

/** Computes the status from the session's current conversation. */
export function statusOf(
  segments: readonly Segment[],
  { conversation, clearedToolUseIds }: Pick<SessionFacts, "conversation" | "clearedToolUseIds">,
): Buffer {
  const columns = joinedColumns(segments);
  const status = Buffer.alloc(columns.marks.length);
  const context = new Map<number, { readonly hasThinking: boolean }>();
  for (const entry of conversation) {
    if (typeof entry.uuid !== "string") continue;
    const { hash, check } = uuidHashes(entry.uuid);
    context.set(keyOf(hash, check), { hasThinking: hasThinking(entry) });
  }
  const cleared = documentsOfCalls(segments, clearedToolUseIds);
  const seen = new Set<number>();
  const isReplacedAt = newerLines(segments, columns);
  // Starts with the newest document. If several lines have the same id, the last line counts.
  for (let at = status.length - 1; at >= 0; at--) {
    const marks = columns.marks[at] as number;
    const key = keyAt(columns.uuids, at);
    const isReplaced = isReplacedAt(at);
    if (key !== NO_UUID && seen.has(key)) status[at] = isReplaced ? STATUS.repeated : 0;
    else {
      const shown = context.get(key);
      const isGone = (marks & MARKS.thinking) !== 0 && shown?.hasThinking === false;
      if (shown !== undefined && !isGone && !cleared.has(at)) status[at] = STATUS.inContext;
    }
    status[at] = (status[at] as number) | lasting(marks);
    if ((marks & MARKS.first) !== 0) seen.add(key);
  }
  matchCopies(columns, status);
  return status;
}

interface JoinedColumns {
  readonly marks: Buffer;
  readonly uuids: Uint32Array;
  readonly contents: Uint32Array;
}

function joinedColumns(segments: readonly Segment[]): JoinedColumns {
  const marks = Buffer.concat(segments.map((segment) => segment.marks()));
  const uuids = new Uint32Array(marks.length * 2);
  const contents = new Uint32Array(marks.length * 2);
  let base = 0;
  for (const segment of segments) {
    uuids.set(segment.uuids(), base * 2);
    contents.set(segment.contents(), base * 2);
    base += segment.facts.documents;
  }
  return { marks, uuids, contents };
}

/**
 * Finds documents that a newer line with the same id replaces. A document is replaced if the newer line has a
 * document of the same kind in the same block. It is also replaced if the newer line has a document with the
 * same content. If the newer line has cleared a tool result, the older result is not replaced, because only
 * the older line contains it. Call the returned function for each document, newest first.
 */
function newerLines(
  segments: readonly Segment[],
  { marks, uuids, contents }: JoinedColumns,
): (at: number) => boolean {
  /**
   * Documents of lines that share their id with another line. The key is the id of the line. The value
   * describes its documents so far, by kind and block and by content.
   */
  const documentsById = new Map<number, Set<string>>();
  const once = new Set<number>();
  for (let at = 0; at < marks.length; at++) {
    const key = keyAt(uuids, at);
    if (((marks[at] as number) & MARKS.first) === 0 || key === NO_UUID) continue;
    if (once.has(key)) documentsById.set(key, new Set());
    once.add(key);
  }
  return (at) => {
    const documents = documentsById.get(keyAt(uuids, at));
    if (documents === undefined) return false;
    const { kind, block } = documentAt(segments, at);
    const names = [`${kind} ${block}`, String(keyAt(contents, at))];
    const isReplaced = names.some((name) => documents.has(name));
    for (const name of names) documents.add(name);
    return isReplaced;
  };
}

function documentAt(segments: readonly Segment[], at: number): DocumentRecord {
  let nth = at;
  for (const segment of segments) {
    if (nth < segment.facts.documents) return segment.document(nth);
    nth -= segment.facts.documents;
  }
  return damaged("a missing document");
}

/** Combines two hashes into one number. Uses as many bits as a number can represent exactly. */
const keyOf = (hash: number, check: number): number => hash * 2 ** 21 + (check & 0x1fffff);
const keyAt = (pairs: Uint32Array, at: number): number =>
  keyOf(pairs[at * 2] as number, pairs[at * 2 + 1] as number);
const NO_UUID = keyOf(0, 0);

/**
 * Matches copies of messages with their originals. A compaction may write kept messages a second time, under
 * new ids. Searches find only the first occurrence of a message. If a copy is in the context, the first
 * occurrence counts as in the context too.
 */
function matchCopies({ marks, contents }: JoinedColumns, status: Buffer): void {
  const isCopy = (at: number): boolean => ((marks[at] as number) & MARKS.copy) !== 0;
  const isLine = (at: number): boolean => ((status[at] as number) & STATUS.repeated) === 0;
  const copies = new Map<number, boolean>();
  for (let at = 0; at < status.length; at++) {
    if (!isCopy(at) || !isLine(at)) continue;
    const key = keyAt(contents, at);
    copies.set(key, copies.get(key) === true || ((status[at] as number) & STATUS.inContext) !== 0);
  }
  if (copies.size === 0) return;
  const told = new Set<number>();
  for (const wantsCopy of [false, true]) {
    for (let at = 0; at < status.length; at++) {
      const key = keyAt(contents, at);
      const isInContext = copies.get(key);
      if (isCopy(at) !== wantsCopy || !isLine(at) || isInContext === undefined) continue;
      const isRepeated = wantsCopy && told.has(key);
      if (isInContext) status[at] = (status[at] as number) | STATUS.inContext;
      if (isRepeated) status[at] = (status[at] as number) | STATUS.repeated;
      told.add(key);
    }
  }
}

/** Returns the documents of results with these ids, numbered over all segments. */
function documentsOfCalls(segments: readonly Segment[], toolUseIds: Iterable<string>): ReadonlySet<number> {
  const found = new Set<number>();
  for (const id of toolUseIds) {
    let base = 0;
    for (const segment of segments) {
      for (const nth of segment.ids.documents(nameOf("toolUse", id))) {
        if (segment.document(nth).kind === "result") found.add(base + nth);
      }
      base += segment.facts.documents;
    }
  }
  return found;
}

/**
 * Checks whether a session only grew, which means that each new line has the previous one as its parent. If
 * so, the status of older documents is unchanged, and the newest uuid is returned. Otherwise returns
 * undefined, and the conversation has to be read.
 */
export function plainGrowth(leaf: string | null, added: readonly Entry[]): string | undefined {
  let newest = leaf ?? undefined;
  for (const entry of added) {
    if (typeof entry.uuid !== "string") continue;
    if (entry.isSidechain === true) continue;
    if (isRewriting(entry) || newest === undefined || entry.parentUuid !== newest) return undefined;
    newest = entry.uuid;
  }
  return newest;
}

/**
 * Returns the status of a document that was added by plain growth. The document is in the context, unless a
 * subagent wrote it.
 */
export const statusOfAdded = (marks: number): number =>
  ((marks & MARKS.sidechain) === 0 ? STATUS.inContext : 0) | lasting(marks);

/** Returns the flags that never change as the conversation continues. */
const lasting = (marks: number): number =>
  ((marks & MARKS.retold) === 0 ? 0 : STATUS.retold) |
  ((marks & MARKS.spoken) === 0 ? 0 : STATUS.spoken) |
  ((marks & MARKS.person) === 0 ? 0 : STATUS.person);

function isRewriting(entry: Entry): boolean {
  if (isCompactBoundary(entry) || isMicrocompactBoundary(entry) || isCollapseMark(entry)) return true;
  if (isSummaryEntry(entry) || isStandIn(entry) || rewindRecordOf(entry) !== undefined) return true;
  return stringField(entry, "writtenWith") !== undefined;
}

/**
 * Checks whether the segments already contain one of these ids. Also returns true if an id occurs twice among
 * the added entries.
 */
export function hasUuid(segments: readonly Segment[], added: readonly Entry[]): boolean {
  const keys = new Set<number>();
  for (const { uuid } of added) {
    if (typeof uuid !== "string") continue;
    const { hash, check } = uuidHashes(uuid);
    const key = keyOf(hash, check);
    if (keys.has(key)) return true;
    keys.add(key);
  }
  for (const segment of segments) {
    const uuids = segment.uuids();
    for (let at = 0; at < segment.facts.documents; at++) if (keys.has(keyAt(uuids, at))) return true;
  }
  return false;
}
