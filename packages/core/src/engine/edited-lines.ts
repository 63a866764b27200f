import { settled } from "../compaction/apply/new-entries.ts";
import {
  type CompactBoundaryEntry,
  type Entry,
  isCompactBoundary,
  isEntry,
  isSummaryEntry,
  type RewindMark,
  type RewindRecord,
  rawContent,
} from "../messages/entry.ts";
import { isFromQueue, newestLineUuid } from "../messages/lines.ts";
import { mapChanged } from "../messages/message.ts";
import { isStandIn, standInUuids } from "../messages/stand-ins.ts";
import { rewindRecordOf } from "../messages/undo-marks.ts";
import { field, isRecord, stringField, stringListField } from "../messages/untrusted.ts";
import { withoutThinkingFrom } from "../messages/without-thinking.ts";

/** A conversation after an edit by the host. */
export interface EditedLines {
  readonly entries: readonly Entry[];
  /**
   * Lines to write again. The key is an entry that differs from its line in the session file. The value is
   * the new line, which has the same id.
   */
  readonly rewrittenLines: ReadonlyMap<Entry, Entry>;
  /** A line to write before all other lines. The other lines are linked below this line. */
  readonly mark?: Entry | undefined;
  /** Number of removed thinking blocks. */
  readonly thinkingBlocks: number;
}

interface Edit {
  /** The conversation before the edit. */
  readonly before: readonly Entry[];
  readonly given: readonly Entry[];
  /** Entries that were just created for plain messages. Their ids can still change. */
  readonly fresh: ReadonlySet<Entry>;
  readonly bindsThinking: boolean;
  /** Ids of all lines that were ever in the conversation, and of the lines that they copy. */
  readonly known: ReadonlySet<string>;
  /** Returns true if the session file has a line with this id. Undefined if the host has no such function. */
  readonly isWritten?: ((uuid: string) => boolean) | undefined;
  /** Creates a line that continues the conversation from an earlier line. */
  readonly newMark: (parentUuid: string | null, rewind: Omit<RewindRecord, "tokens">) => RewindMark;
}

/**
 * Prepares the entries of an edited conversation for sending and writing. Some models bind thinking blocks to
 * the messages before them. Such a model refuses the blocks after the edit. In the session file, every line
 * has a parent. If the parent of a line was removed, the line and all lines below it are written again with
 * other parents. If several lines have the same id, readers use the last one.
 */
export function prepareEditedLines(edit: Edit): EditedLines {
  const { before, given, fresh, bindsThinking, known, isWritten } = edit;
  if (before.length === 0) return resumedLines(given, isWritten);
  const isKnown = ({ uuid }: Entry): boolean => uuid !== undefined && known.has(uuid);
  // The host may replace the only message and append the reply, whose parent is the old message.
  const isRelated = (entry: Entry): boolean => isKnown(entry) || known.has(parentOf(entry) ?? "");
  // If the list has a new mark, the session file already matches the list, so no line is written again.
  if (!given.some(isRelated) || given.some((entry) => isMark(entry) && !isKnown(entry)))
    return { entries: given, rewrittenLines: new Map(), thinkingBlocks: 0 };
  const updated = withReplacedLines(before, withKnownParents(before, given), fresh);
  const changedAt = firstDifference(before, updated);
  const movedAt = firstDifference(before, updated, isSameLine);
  const { entries: sendable, blocks } = bindsThinking
    ? withoutThinkingFrom(updated, changedAt)
    : { entries: updated, blocks: 0 };
  const mark = markAfterCompaction(edit, movedAt);
  const linked =
    mark === undefined
      ? linkBelowKept(sendable, movedAt, edit)
      : relinkFrom(mark.uuid, mapChanged(sendable, withoutKeptList), mark.parentUuid === null ? 0 : 1);
  const old = new Set(before);
  const needsRewrite = (entry: Entry, at: number): boolean =>
    entry !== given[at] || (!old.has(entry) && isKnown(entry));
  const rewritten = new Map(linked.filter(needsRewrite).map((entry) => [entry, entry]));
  return {
    entries: linked,
    rewrittenLines: new Map([...rewritten, ...movedLines(sendable, linked)]),
    mark,
    thinkingBlocks: blocks,
  };
}

/**
 * Links the entries below the kept messages of a boundary. `movedAt` is the index of the first line that the
 * host moved.
 */
function linkBelowKept(
  entries: readonly Entry[],
  movedAt: number,
  { before, known }: Edit,
): readonly Entry[] {
  const from = firstIndexBelowKept(entries, movedAt);
  if (from !== undefined) {
    const linked = relink(entries, { isKnown: (uuid) => known.has(uuid), before, from });
    if (!linked.some((entry, at) => hasLeftBoundary(entry, entries[at], linked))) return linked;
  }
  const top = entries.findLastIndex(keepsMessages);
  return relinkFrom(entries[top]?.uuid ?? null, mapChanged(entries, withoutKeptList), top + 1);
}

/**
 * Returns true if the line's parent was a boundary before the edit, but is another line now. Readers would
 * treat a boundary without lines below it as an unfinished compaction.
 */
function hasLeftBoundary(entry: Entry, old: Entry | undefined, entries: readonly Entry[]): boolean {
  if (entry === old || old === undefined || parentOf(old) === parentOf(entry)) return false;
  return entries.some((other) => keepsMessages(other) && other.uuid === parentOf(old));
}

/**
 * Returns a new rewind mark in two cases. The host removed a boundary, a summary or an earlier rewind mark,
 * or lines above a rewind mark moved. In both cases, all lines are written again below the new mark.
 * Otherwise a reader would follow kept messages to the removed summary.
 */
function markAfterCompaction({ before, given, newMark }: Edit, movedAt: number): RewindMark | undefined {
  const there = new Set(given.map(({ uuid }) => uuid));
  // A list of plain messages contains the summary, but never the boundary.
  const isLeft = before.some((entry) => (isMark(entry) || isSummaryEntry(entry)) && !there.has(entry.uuid));
  const isAboveMark = given
    .slice(movedAt)
    .some((entry) => isEntry(entry) && rewindRecordOf(entry) !== undefined);
  if (!isLeft && !isAboveMark) return undefined;
  const [top] = given;
  const isTopped = top !== undefined && isEntry(top) && isCompactBoundary(top);
  const first = given[isTopped ? 1 : 0]?.uuid;
  if (first === undefined) return undefined;
  const leftUuid = newestLineUuid(before) ?? null;
  return newMark(isTopped ? (top.uuid ?? null) : null, { before: first, leftUuid });
}

/**
 * Returns the lines to write again. A stand-in is an entry that replaces other messages. A moved stand-in
 * becomes settled: its messages can no longer be restored, because they are no longer above it in the file.
 */
function movedLines(from: readonly Entry[], to: readonly Entry[]): ReadonlyMap<Entry, Entry> {
  const moved = to.filter((entry, at) => entry !== from[at]);
  return new Map(moved.map((entry) => [entry, settled(entry)]));
}

/**
 * Handles a host that resumes a session and edits a message before the first turn. In that case, the edited
 * line is not in the file, or a line below it has a parent that is not in the list.
 */
function resumedLines(given: readonly Entry[], isWritten: Edit["isWritten"]): EditedLines {
  const isNew = ({ uuid }: Entry): boolean => uuid !== undefined && isWritten?.(uuid) !== true;
  const first = given.findIndex((entry) => isEntry(entry) && isNew(entry));
  if (first === -1) return { entries: given, rewrittenLines: new Map(), thinkingBlocks: 0 };
  const below = firstIndexBelowKept(given, first);
  const from = below === undefined ? 1 : Math.max(1, first);
  const linked = relink(given, { isKnown: isWritten ?? (() => true), from });
  const entries = below === undefined ? mapChanged(linked, withoutKeptList) : linked;
  return { entries, rewrittenLines: movedLines(given, entries), thinkingBlocks: 0 };
}

/**
 * Returns the index of the first line below the kept messages of a boundary. The parents of the kept messages
 * are above the boundary. If the host edited only later messages or cut off the last kept messages, these
 * parents can stay. In all other cases, returns undefined.
 */
function firstIndexBelowKept(entries: readonly Entry[], changedAt: number): number | undefined {
  const indexes = new Map(entries.map(({ uuid }, at) => [uuid, at]));
  const places = entries.flatMap(keptIds).map((id) => indexes.get(id) ?? -1);
  const isSame = (at: number): boolean => at !== -1 && at < changedAt;
  const cutAt = places.findIndex((at) => !isSame(at));
  if (cutAt === 0 || (cutAt !== -1 && places.slice(cutAt).some(isSame))) return undefined;
  return Math.max(-1, ...(cutAt === -1 ? places : places.slice(0, cutAt))) + 1;
}

/**
 * Returns the ids of messages that a boundary lists as kept in place. Some boundaries list only the first and
 * the last.
 */
function keptIds(entry: Entry): readonly string[] {
  if (!isEntry(entry) || !isCompactBoundary(entry)) return [];
  const { preservedMessages, preservedSegment } = entry.compactMetadata;
  const all = stringListField(preservedMessages, "uuids");
  if (all.length > 0) return all;
  return ["headUuid", "tailUuid"]
    .map((name) => stringField(preservedSegment, name))
    .filter((id) => id !== undefined);
}

/** Removes the list of kept messages from a boundary, so that the boundary is the parent of the next line. */
function withoutKeptList(entry: Entry): Entry {
  if (!keepsMessages(entry)) return entry;
  const { compactMetadata, ...boundary } = entry as CompactBoundaryEntry;
  const { preservedMessages: _, preservedSegment: __, ...metadata } = compactMetadata;
  return { ...boundary, compactMetadata: metadata } as Entry;
}

/**
 * Returns true for a boundary that lists kept messages. The parents of these messages are above the boundary.
 */
const keepsMessages = (entry: Entry): boolean =>
  isEntry(entry) &&
  isCompactBoundary(entry) &&
  ["preservedSegment", "preservedMessages"].some((name) => isRecord(field(entry.compactMetadata, name)));

/**
 * Restores the parents of lines that were written again, because the host still has the old parents. A line
 * gets its parent from the file only if the line above it is still the same.
 */
function withKnownParents(before: readonly Entry[], given: readonly Entry[]): readonly Entry[] {
  const previous = new Map<Entry["uuid"], Entry["uuid"]>();
  const own = new Map<Entry["uuid"], Entry>();
  for (const [at, entry] of before.entries()) {
    own.set(entry.uuid, entry);
    previous.set(entry.uuid, before[at - 1]?.uuid);
  }
  return mapChanged(given, (entry, at) => {
    const line = entry.uuid === undefined ? undefined : own.get(entry.uuid);
    if (line === undefined || parentOf(line) === parentOf(entry)) return entry;
    if (previous.get(entry.uuid) !== given[at - 1]?.uuid) return entry;
    return { ...entry, parentUuid: parentOf(line) } as Entry;
  });
}

/**
 * If the host replaced a message, the new entry gets the id and parent of the old line. So the new entry is
 * the parent of the lines below.
 */
function withReplacedLines(
  before: readonly Entry[],
  given: readonly Entry[],
  fresh: ReadonlySet<Entry>,
): readonly Entry[] {
  const there = new Set(given.map(({ uuid }) => uuid));
  const gone = new Map(before.flatMap((entry, at) => (there.has(entry.uuid) ? [] : [[entry.uuid, at]])));
  return mapChanged(given, (entry, at) => {
    const next = given[at + 1];
    if (!fresh.has(entry) || next === undefined || fresh.has(next)) return entry;
    const place = gone.get(parentOf(next) ?? "") ?? -1;
    const replaced = before[place];
    if (replaced?.type !== entry.type || before[place - 1]?.uuid !== given[at - 1]?.uuid) return entry;
    const { uuid, parentUuid } = replaced;
    const copyOf = field(replaced, "copyOf");
    return { ...entry, uuid, parentUuid, ...(copyOf === undefined ? {} : { copyOf }) } as Entry;
  });
}

/**
 * Adds the marks of the list `before` to the plain messages in `given`. The boundary stays if its summary is
 * in `given`. Another mark stays if a neighboring message is in `given`.
 */
export function withMarks(before: readonly Entry[], given: readonly Entry[]): readonly Entry[] {
  const there = new Set(given.map(({ uuid }) => uuid));
  const [top] = before;
  const isTopped =
    top !== undefined &&
    isMark(top) &&
    before.some((entry) => isSummaryEntry(entry) && there.has(entry.uuid));
  const below = new Map<Entry["uuid"], Entry>();
  const above = new Map<Entry["uuid"], Entry>();
  for (const [at, entry] of before.entries()) {
    if (at === 0 || !isMark(entry) || there.has(entry.uuid)) continue;
    const [previous, next] = [before[at - 1]?.uuid, before[at + 1]?.uuid];
    if (there.has(previous)) below.set(previous, entry);
    else if (there.has(next)) above.set(next, entry);
  }
  const entries = given.flatMap((entry) =>
    [above.get(entry.uuid), entry, below.get(entry.uuid)].filter((one) => one !== undefined),
  );
  return isTopped && !there.has(top.uuid) ? [top, ...entries] : entries;
}

/** Returns true for a boundary, or for the mark of an undo or rewind. */
export const isMark = (entry: Entry): boolean =>
  isEntry(entry) && (isCompactBoundary(entry) || rewindRecordOf(entry) !== undefined);

function firstDifference(
  before: readonly Entry[],
  given: readonly Entry[],
  isSame: (entry: Entry, other: Entry) => boolean = Object.is,
): number {
  const at = given.findIndex((entry, index) => {
    const other = before[index];
    return other === undefined || !isSame(entry, other);
  });
  return at === -1 ? given.length : at;
}

/** Returns true if both entries have the same id and the same parent. The content may differ. */
const isSameLine = (entry: Entry, other: Entry): boolean =>
  entry === other ||
  (entry.uuid !== undefined && entry.uuid === other.uuid && parentOf(entry) === parentOf(other));

interface Links {
  /** Returns true if a line with this id was in the conversation before. */
  readonly isKnown: (uuid: string) => boolean;
  /** The list before the edit. */
  readonly before?: readonly Entry[];
  /** Index of the first line whose parent is checked. */
  readonly from?: number;
}

const NO_ENTRIES: readonly Entry[] = [];

/**
 * Sets the parents so that a reader who follows them finds this list. If the parents are already correct,
 * returns the same list. Otherwise starts at the first line that needs a new parent. From there on, the
 * parent of each line is the line above it. Stand-ins (entries that replace other messages) keep their
 * position.
 */
function relink(entries: readonly Entry[], links: Links): readonly Entry[] {
  const start = firstToMove(entries, links);
  return start === -1 ? entries : relinkFrom(newestLineUuid(entries.slice(0, start)) ?? null, entries, start);
}

/** Sets `parentUuid` on the line at `start`. The parent of each later line is the line above it. */
function relinkFrom(parentUuid: string | null, entries: readonly Entry[], start: number): readonly Entry[] {
  let parent = parentUuid;
  return entries.map((entry, at) => {
    if (at < start || !isLine(entry)) return entry;
    const line = { ...entry, parentUuid: parent } as Entry;
    parent = entry.uuid;
    return line;
  });
}

/**
 * Sets the parents of appended lines so that a reader who starts at the last line finds all appended lines.
 * If the host has several lists, a line may have a removed line as its parent, or start a second branch.
 */
export function linkContinuation(
  added: readonly Entry[],
  leaf: string | null,
  { isKnown, isPresent }: Pick<Links, "isKnown"> & { readonly isPresent: (uuid: string) => boolean },
): readonly Entry[] {
  let previous = leaf;
  for (const [at, entry] of added.entries()) {
    if (!isLine(entry)) continue;
    const parent = parentOf(entry);
    const isElsewhere = parent !== null && parent !== previous && isKnown(parent);
    if (isElsewhere && (isUserText(entry) || !isPresent(parent))) return relinkFrom(previous, added, at);
    previous = entry.uuid;
  }
  return added;
}

/**
 * Returns true for a user message without tool results. Tool results are excluded, because the parents of
 * parallel results are their calls, and readers find the results there.
 */
function isUserText(entry: Entry): boolean {
  if (entry.type !== "user") return false;
  const content = rawContent(entry);
  return !Array.isArray(content) || !content.some((block) => stringField(block, "type") === "tool_result");
}

/** Returns true for an entry that has its own line in the session file. */
const isLine = (entry: Entry): entry is Entry & { readonly uuid: string } =>
  isEntry(entry) && entry.uuid !== undefined && !isFromQueue(entry);

const parentOf = (entry: Entry): string | null => {
  const { parentUuid } = entry as { readonly parentUuid?: unknown };
  return typeof parentUuid === "string" ? parentUuid : null;
};

/**
 * Returns the index of the first line that needs a new parent, or -1. A stand-in is an entry that replaces
 * other messages. In the file, a stand-in is below these messages. As soon as any line moves, the stand-in
 * must move too. Otherwise a reader who follows the parents would miss the stand-in.
 */
function firstToMove(entries: readonly Entry[], links: Links): number {
  const { isKnown, before = NO_ENTRIES, from = 0 } = links;
  const there = new Set(entries.flatMap(idsOf));
  const above = new Set<string>();
  let firstStandIn = -1;
  let previous: string | undefined;
  let isBelowMark = false;
  for (const [at, entry] of entries.entries()) {
    if (!isLine(entry)) continue;
    const parent = parentOf(entry);
    // The host inserted a new message between this line and its parent, or inserted this line between other
    // lines.
    const isSeparated =
      previous !== undefined &&
      parent !== previous &&
      (isKnown(entry.uuid) ? !isKnown(previous) : isUserText(entry) || isBelowMark);
    if (parent === null ? isSeparated && !isKnown(entry.uuid) : !above.has(parent) || isSeparated) {
      const isTorn = isStandIn(entry)
        ? !there.has(parent ?? "") || isAfterOther(entry, previous, before, isKnown)
        : at >= from && (at > 0 || isKnown(parent ?? ""));
      if (isTorn) return firstStandIn === -1 ? at : firstStandIn;
      if (isStandIn(entry) && firstStandIn === -1) firstStandIn = at;
    }
    for (const id of idsOf(entry)) above.add(id);
    previous = entry.uuid;
    isBelowMark = rewindRecordOf(entry) !== undefined;
  }
  return -1;
}

/**
 * Compares the line above a stand-in with the parent of the first message that the stand-in replaces. Returns
 * true if they are no longer the same line.
 */
function isAfterOther(
  standIn: Entry,
  previous: string | undefined,
  before: readonly Entry[],
  isKnown: Links["isKnown"],
): boolean {
  const at = before.findIndex(({ uuid }) => uuid === standIn.uuid);
  if (at === -1) return previous !== undefined && !isKnown(previous);
  return newestLineUuid(before.slice(0, at)) !== previous;
}

/** Returns the entry's id and the ids of the messages that it replaces. */
const idsOf = (entry: Entry): readonly string[] =>
  isLine(entry) ? [entry.uuid, ...standInUuids(entry)] : [];
