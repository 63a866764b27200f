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
import { turnedBack } from "../messages/undo-marks.ts";
import { field, isRecord, stringField, stringListField } from "../messages/untrusted.ts";
import { withoutThinkingFrom } from "../messages/without-thinking.ts";

/** A conversation after the host changed it. */
export interface EditedLines {
  readonly entries: readonly Entry[];
  /** Entries that the session file holds otherwise, with the lines that are written again under the same ids. */
  readonly again: ReadonlyMap<Entry, Entry>;
  /** A line to be written before all others, on which they hang. */
  readonly mark?: Entry | undefined;
  /** Thinking blocks left out. */
  readonly thinkingBlocks: number;
}

interface Edit {
  /** The conversation so far. */
  readonly before: readonly Entry[];
  readonly given: readonly Entry[];
  /** Entries that were made for plain messages just now: their ids are still free to choose. */
  readonly fresh: ReadonlySet<Entry>;
  readonly bindsThinking: boolean;
  /** Ids of all lines that were in the conversation at some time, and of lines that they copy. */
  readonly known: ReadonlySet<string>;
  /** True if the session file has a line with this id. Undefined if the host does not say. */
  readonly isWritten?: ((uuid: string) => boolean) | undefined;
  /** A line that says that the conversation goes on from an earlier one. */
  readonly newMark: (parentUuid: string | null, rewind: Omit<RewindRecord, "tokens">) => RewindMark;
}

/**
 * Entries of a changed conversation as they can be sent and written. A model that binds its thinking refuses thinking
 * that follows the change. In the session file a line hangs on its parent: a line whose parent has left the
 * conversation is written again with another parent, and so are all lines below it. For readers the last line with
 * an id counts.
 */
export function editedLines(edit: Edit): EditedLines {
  const { before, given, fresh, bindsThinking, known, isWritten } = edit;
  if (before.length === 0) return resumedLines(given, isWritten);
  const isKnown = ({ uuid }: Entry): boolean => uuid !== undefined && known.has(uuid);
  // The host may replace the only message so far and append the reply, which hangs on the old one.
  const isRelated = (entry: Entry): boolean => isKnown(entry) || known.has(parentOf(entry) ?? "");
  if (!given.some(isRelated) || given.some((entry) => isMark(entry) && !isKnown(entry)))
    return { entries: given, again: new Map(), thinkingBlocks: 0 };
  const updated = withUpdates(before, withLinksAbove(before, given), fresh);
  const changedAt = firstDifference(before, updated);
  const movedAt = firstDifference(before, updated, isSameLine);
  const { entries: sendable, blocks } = bindsThinking
    ? withoutThinkingFrom(updated, changedAt)
    : { entries: updated, blocks: 0 };
  const mark = markAfterCompaction(edit, movedAt);
  const linked =
    mark === undefined
      ? linkedBelowKept(sendable, movedAt, edit)
      : hungOn(mark.uuid, mapChanged(sendable, namingNone), mark.parentUuid === null ? 0 : 1);
  const old = new Set(before);
  const isAgain = (entry: Entry, at: number): boolean =>
    entry !== given[at] || (!old.has(entry) && isKnown(entry));
  const again = new Map(linked.filter(isAgain).map((entry) => [entry, entry]));
  return {
    entries: linked,
    again: new Map([...again, ...movedLines(sendable, linked)]),
    mark,
    thinkingBlocks: blocks,
  };
}

/** @param movedAt the index of the first line that the file has in another place. */
function linkedBelowKept(
  entries: readonly Entry[],
  movedAt: number,
  { before, known }: Edit,
): readonly Entry[] {
  const from = belowKept(entries, movedAt);
  if (from !== undefined) {
    const linked = relinked(entries, { isKnown: (uuid) => known.has(uuid), before, from });
    if (!linked.some((entry, at) => hasLeft(entry, entries[at], linked))) return linked;
  }
  const top = entries.findLastIndex(keepsMessages);
  return hungOn(entries[top]?.uuid ?? null, mapChanged(entries, namingNone), top + 1);
}

/** The line hung on a boundary. Readers take a boundary without lines for a compaction that was never finished. */
function hasLeft(entry: Entry, old: Entry | undefined, entries: readonly Entry[]): boolean {
  if (entry === old || old === undefined || parentOf(old) === parentOf(entry)) return false;
  return entries.some((other) => keepsMessages(other) && other.uuid === parentOf(old));
}

/**
 * The host went back to a list without the last compaction, or without the mark of its undo, or it moved lines above
 * that mark. The boundary may name messages of the list as kept, so a reader would follow their lines to the summary.
 * All lines are written again, below a mark.
 */
function markAfterCompaction({ before, given, newMark }: Edit, movedAt: number): RewindMark | undefined {
  const there = new Set(given.map(({ uuid }) => uuid));
  // In a list of plain messages the summary stands for its boundary.
  const isLeft = before.some((entry) => (isMark(entry) || isSummaryEntry(entry)) && !there.has(entry.uuid));
  const isAboveMark = given.slice(movedAt).some((entry) => isEntry(entry) && turnedBack(entry) !== undefined);
  if (!isLeft && !isAboveMark) return undefined;
  const [top] = given;
  const isTopped = top !== undefined && isEntry(top) && isCompactBoundary(top);
  const first = given[isTopped ? 1 : 0]?.uuid;
  if (first === undefined) return undefined;
  const leftUuid = newestLineUuid(before) ?? null;
  return newMark(isTopped ? (top.uuid ?? null) : null, { before: first, leftUuid });
}

/** A stand-in that moved to the place where it stands no longer finds its messages above it in the file. */
function movedLines(from: readonly Entry[], to: readonly Entry[]): ReadonlyMap<Entry, Entry> {
  const moved = to.filter((entry, at) => entry !== from[at]);
  return new Map(moved.map((entry) => [entry, settled(entry)]));
}

/**
 * A host may resume a session and change a message of it before the first turn. Then that line is not written, or a
 * line below it hangs on one that is not in the list.
 */
function resumedLines(given: readonly Entry[], isWritten: Edit["isWritten"]): EditedLines {
  const isNew = ({ uuid }: Entry): boolean => uuid !== undefined && isWritten?.(uuid) !== true;
  const first = given.findIndex((entry) => isEntry(entry) && isNew(entry));
  if (first === -1) return { entries: given, again: new Map(), thinkingBlocks: 0 };
  const below = belowKept(given, first);
  const from = below === undefined ? 1 : Math.max(1, first);
  const linked = relinked(given, { isKnown: isWritten ?? (() => true), from });
  const entries = below === undefined ? mapChanged(linked, namingNone) : linked;
  return { entries, again: movedLines(given, entries), thinkingBlocks: 0 };
}

/**
 * The index of the first line below the messages that a boundary names as kept. These hang on lines above the boundary
 * and stay there if the host changed only what follows them, or cut the last ones off. Undefined if it did more.
 */
function belowKept(entries: readonly Entry[], changedAt: number): number | undefined {
  const indexes = new Map(entries.map(({ uuid }, at) => [uuid, at]));
  const places = entries.flatMap(keptIds).map((id) => indexes.get(id) ?? -1);
  const isSame = (at: number): boolean => at !== -1 && at < changedAt;
  const cutAt = places.findIndex((at) => !isSame(at));
  if (cutAt === 0 || (cutAt !== -1 && places.slice(cutAt).some(isSame))) return undefined;
  return Math.max(-1, ...(cutAt === -1 ? places : places.slice(0, cutAt))) + 1;
}

/** The ids of messages that a boundary names as kept in their place; of some only the first and the last. */
function keptIds(entry: Entry): readonly string[] {
  if (!isEntry(entry) || !isCompactBoundary(entry)) return [];
  const { preservedMessages, preservedSegment } = entry.compactMetadata;
  const all = stringListField(preservedMessages, "uuids");
  if (all.length > 0) return all;
  return ["headUuid", "tailUuid"]
    .map((name) => stringField(preservedSegment, name))
    .filter((id) => id !== undefined);
}

/** A boundary that names no messages as kept in their place: all that follows it hangs on it. */
function namingNone(entry: Entry): Entry {
  if (!keepsMessages(entry)) return entry;
  const { compactMetadata, ...boundary } = entry as CompactBoundaryEntry;
  const { preservedMessages: _, preservedSegment: __, ...metadata } = compactMetadata;
  return { ...boundary, compactMetadata: metadata } as Entry;
}

/** The messages below such a boundary have parents above it, and the boundary says so. */
const keepsMessages = (entry: Entry): boolean =>
  isEntry(entry) &&
  isCompactBoundary(entry) &&
  ["preservedSegment", "preservedMessages"].some((name) => isRecord(field(entry.compactMetadata, name)));

/**
 * The host does not know that a line was written again with another parent. As long as the same line is above it, it
 * hangs where the file has it.
 */
function withLinksAbove(before: readonly Entry[], given: readonly Entry[]): readonly Entry[] {
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

/** A message in the place of another one takes over its line, so that the lines below it hang on it. */
function withUpdates(
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
 * A list of plain messages has no marks. The boundary stays if its summary is in the list, and another mark if a message
 * beside it is.
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

/** The host went back by it, or compacted by itself: if it is new, the file agrees with the list. */
export const isMark = (entry: Entry): boolean =>
  isEntry(entry) && (isCompactBoundary(entry) || turnedBack(entry) !== undefined);

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

/** The content may differ: the file has the line in the same place. */
const isSameLine = (entry: Entry, other: Entry): boolean =>
  entry === other ||
  (entry.uuid !== undefined && entry.uuid === other.uuid && parentOf(entry) === parentOf(other));

interface Links {
  /** True if a line with this id was in the conversation before. */
  readonly isKnown: (uuid: string) => boolean;
  /** The list before it was changed. */
  readonly before?: readonly Entry[];
  /** The index of the first line whose parent is checked. */
  readonly from?: number;
}

const NO_ENTRIES: readonly Entry[] = [];

/**
 * Lines of a conversation so that a reader who follows the parents finds this list. The very list if that is so already.
 * From the first line whose parent is not in the list, each line hangs on the one above it, and a stand-in among them
 * stays in its place.
 */
function relinked(entries: readonly Entry[], links: Links): readonly Entry[] {
  const start = firstToMove(entries, links);
  return start === -1 ? entries : hungOn(newestLineUuid(entries.slice(0, start)) ?? null, entries, start);
}

/** The line at `start` hangs on this one, and each line below it on the one above it. */
function hungOn(parentUuid: string | null, entries: readonly Entry[], start: number): readonly Entry[] {
  let parent = parentUuid;
  return entries.map((entry, at) => {
    if (at < start || !isLine(entry)) return entry;
    const line = { ...entry, parentUuid: parent } as Entry;
    parent = entry.uuid;
    return line;
  });
}

/**
 * Lines that continue a conversation, so that a reader who starts from the last one finds all of them. A host with
 * several lists may hang a line on one that has left the conversation, or put words beside a line that stays in it.
 */
export function continuing(
  added: readonly Entry[],
  leaf: string | null,
  { isKnown, isThere }: Pick<Links, "isKnown"> & { readonly isThere: (uuid: string) => boolean },
): readonly Entry[] {
  let previous = leaf;
  for (const [at, entry] of added.entries()) {
    if (!isLine(entry)) continue;
    const parent = parentOf(entry);
    const isElsewhere = parent !== null && parent !== previous && isKnown(parent);
    if (isElsewhere && (isWords(entry) || !isThere(parent))) return hungOn(previous, added, at);
    previous = entry.uuid;
  }
  return added;
}

/** A message of a person. Results of parallel calls hang on their calls, and readers find them there. */
function isWords(entry: Entry): boolean {
  if (entry.type !== "user") return false;
  const content = rawContent(entry);
  return !Array.isArray(content) || !content.some((block) => stringField(block, "type") === "tool_result");
}

/** A line of the session file with an id of its own. */
const isLine = (entry: Entry): entry is Entry & { readonly uuid: string } =>
  isEntry(entry) && entry.uuid !== undefined && !isFromQueue(entry);

const parentOf = (entry: Entry): string | null => {
  const { parentUuid } = entry as { readonly parentUuid?: unknown };
  return typeof parentUuid === "string" ? parentUuid : null;
};

/**
 * The file has a stand-in below the messages that it stands for and below its parent. It has to move as soon as any
 * line does, or it would no longer be on the way.
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
    // The host put a new message between this line and its parent, or it put this one between others.
    const isParted =
      previous !== undefined &&
      parent !== previous &&
      (isKnown(entry.uuid) ? !isKnown(previous) : isWords(entry) || isBelowMark);
    if (parent === null ? isParted && !isKnown(entry.uuid) : !above.has(parent) || isParted) {
      const isTorn = isStandIn(entry)
        ? !there.has(parent ?? "") || isAfterOther(entry, previous, before, isKnown)
        : at >= from && (at > 0 || isKnown(parent ?? ""));
      if (isTorn) return firstStandIn === -1 ? at : firstStandIn;
      if (isStandIn(entry) && firstStandIn === -1) firstStandIn = at;
    }
    for (const id of idsOf(entry)) above.add(id);
    previous = entry.uuid;
    isBelowMark = turnedBack(entry) !== undefined;
  }
  return -1;
}

/** The first message that a stand-in stands for hangs on the line that was above the stand-in. */
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

/** Its own id, and those of the messages that it stands for. */
const idsOf = (entry: Entry): readonly string[] =>
  isLine(entry) ? [entry.uuid, ...standInUuids(entry)] : [];
