import { clearedIdsIn } from "../conversation/cleared.ts";
import { type CompactBoundaryEntry, type Entry, isCompactBoundary } from "../conversation/entry.ts";
import { withStandInsApplied } from "../conversation/stand-ins.ts";
import { turnedBack, undoRecordOf } from "../conversation/undo-rewind.ts";
import { withoutRefusedThinking } from "../conversation/without-thinking.ts";
import { ChainWalker, isMoreNeeded, type MoreNeeded } from "./chain.ts";
import { boundaryAt, type EntryIndex, indexEntries, newestLeaf } from "./entry-index.ts";
import { reattachParallelEntries } from "./reattach.ts";
import { wholeLines } from "./released-line.ts";

/** What the agent has in its context: from the last boundary, or the start, to the newest leaf. */
export interface Conversation {
  readonly entries: readonly Entry[];
  /** What the next entry is to hang on. */
  readonly leafUuid: string | undefined;
  readonly boundary: CompactBoundaryEntry | undefined;
  /** Entries whose parent is in no line; each was taken to follow the line above it. */
  readonly bridgedUuids: readonly string[];
  /** Results that micro-compactions emptied in the agent's memory; on disk they are whole. */
  readonly clearedToolUseIds: ReadonlySet<string>;
}

/** The current conversation of a session whose entries are all here, in file order. */
export function currentConversation(entries: readonly Entry[]): Conversation {
  return conversationOf(indexEntries(entries));
}

/** The same, of a whole file that has been indexed. */
export function conversationOf(index: EntryIndex): Conversation {
  const found = conversationFrom(index);
  return isMoreNeeded(found) ? EMPTY : found;
}

const NOTHING: Omit<Conversation, "entries"> = Object.freeze({
  leafUuid: undefined,
  boundary: undefined,
  bridgedUuids: [],
  clearedToolUseIds: new Set<string>(),
});
const NO_LINES: ConversationLines = Object.freeze({ ...NOTHING, lines: [] });
const EMPTY: Conversation = Object.freeze({ ...NOTHING, entries: [] });

function conversationFrom(index: EntryIndex, moment?: Moment): Conversation | MoreNeeded {
  const found = linesFrom(index, moment?.leaf, moment?.before);
  return isMoreNeeded(found) ? found : asConversation(found);
}

/** The lines with stand-ins in the place of what they stand for, and without thinking that would be refused. */
export function asConversation({ lines, ...conversation }: ConversationLines): Conversation {
  const { boundary } = conversation;
  const whole = wholeLines(lines);
  return { ...conversation, entries: withStandInsApplied(withoutRefusedThinking(whole, boundary)) };
}

/** The same as a list that leaves the content of its lines in the file, where nothing changes them. */
export function shownLines(conversation: ConversationLines): readonly Entry[] {
  const { lines, boundary } = conversation;
  const isAsWritten = withStandInsApplied(withoutRefusedThinking(lines, boundary)) === lines;
  return isAsWritten ? lines : asConversation(conversation).entries;
}

/** A conversation as it is written: with what other lines stand for in its place, and all its thinking. */
export interface ConversationLines extends Omit<Conversation, "entries"> {
  readonly lines: readonly Entry[];
}

/** @param walker of this index. Pass it when you read many conversations of one session. */
export function linesFrom(
  index: EntryIndex,
  leaf?: number,
  before?: number,
  walker: ChainWalker = new ChainWalker(index),
): ConversationLines | MoreNeeded {
  if (index.isQueueUncertain) return { needs: "whole-file" };
  const start = leaf ?? newestLeaf(index, before);
  if (start === undefined) return index.isWholeFile ? NO_LINES : { needs: "boundary" };
  const chain = walker.walkFrom(start, before);
  if (isMoreNeeded(chain)) return chain;
  const leafAt = chain.newestFirst[0] ?? start;
  const oldestFirst = chain.newestFirst.reverse();
  const { listed } = chain;
  const boundary = listed && oldestFirst[0];
  const isOpen = (at: number): boolean => boundary === undefined || at > boundary || listed?.has(at) === true;
  const order = reattachParallelEntries(index, oldestFirst, before, isOpen);
  const onChain = entriesAt(index, order);
  // Progress lines are links of the chain, but were only ever shown on the screen.
  const lines = onChain.some(isProgress) ? onChain.filter((entry) => !isProgress(entry)) : onChain;
  return {
    lines,
    leafUuid: index.entries[leafAt]?.uuid,
    boundary: boundaryAt(index, oldestFirst[0] ?? -1),
    bridgedUuids: chain.bridged.map((position) => index.entries[position]?.uuid ?? ""),
    clearedToolUseIds: clearedIdsIn(lines),
  };
}

/** The very list of the index if it holds these entries and no others: a copy of a long one takes memory. */
function entriesAt({ entries }: EntryIndex, order: ArrayLike<number>): readonly Entry[] {
  const isAll = order.length === entries.length && entries.every((_, at) => order[at] === at);
  return isAll ? entries : Array.from(order, (position) => entries[position] as Entry);
}

const isProgress = ({ type }: Entry): boolean => type === "progress";

/**
 * The conversation as it was right before a compaction, for going back across it. The boundary's
 * `logicalParentUuid` is only a hint: where it names no line, the line above the boundary is meant.
 */
export function historyBefore(entries: readonly Entry[], boundary: CompactBoundaryEntry): Conversation {
  return indexedBefore(indexEntries(entries), boundary);
}

/** The same before any line, of a whole file that has been indexed. */
export function indexedBefore(index: EntryIndex, line: Entry): Conversation {
  const moment = momentBefore(index, line);
  const found = moment && conversationFrom(index, moment);
  return found === undefined || isMoreNeeded(found) ? EMPTY : found;
}

/** The same as it is written. */
export function indexedLinesBefore(index: EntryIndex, line: Entry, walker?: ChainWalker): ConversationLines {
  const moment = momentBefore(index, line);
  const found = moment && linesFrom(index, moment.leaf, moment.before, walker);
  return found === undefined || isMoreNeeded(found) ? NO_LINES : found;
}

/** What led to a boundary. Behind that of an undo a conversation was written again: what had led to that one. */
export function stretchBefore(index: EntryIndex, boundary: CompactBoundaryEntry): ConversationLines {
  const continued = index.entries[index.positions.get(undoRecordOf(boundary)?.before ?? "") ?? -1];
  return indexedLinesBefore(index, continued ?? boundary);
}

interface Moment {
  readonly leaf: number;
  /** Position in the file of what was written next. */
  readonly before: number;
}

function momentBefore(index: EntryIndex, line: Entry): Moment | undefined {
  const before = index.positions.get(line.uuid ?? "");
  if (before === undefined || isRoot(line)) return undefined;
  const hinted = index.positions.get(leftBy(line) ?? "");
  const leaf = hinted !== undefined && hinted < before ? hinted : newestLeaf(index, before);
  return leaf === undefined ? undefined : { leaf, before };
}

/** Nothing was before it. The other kinds say elsewhere what they left, and where they do not, they left something. */
const isRoot = (line: Entry): boolean =>
  line.parentUuid === null && !isCompactBoundary(line) && turnedBack(line) === undefined;

/** What was the newest line when this one was written. */
function leftBy(line: Entry): string | null | undefined {
  const back = turnedBack(line);
  if (back !== undefined) return back.leftUuid;
  return isCompactBoundary(line) ? line.logicalParentUuid : line.parentUuid;
}
