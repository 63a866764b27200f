import {
  clearedIdsIn,
  isCompactBoundary,
  isFromQueue,
  PositionSet,
  rewindRecordOf,
  undoRecordOf,
  withoutRefusedThinking,
  withStandInsApplied,
} from "@longhaul/core/internal/messages";
import type {
  AssistantEntry,
  CompactBoundaryEntry,
  ContentBlock,
  Entry,
  UserEntry,
} from "@longhaul/core/messages";
import { ChainWalker, isMoreNeeded, type MoreNeeded } from "./chain-walker.ts";
import {
  boundaryAt,
  continuedBefore,
  type EntryIndex,
  indexEntries,
  isOnMainThread,
  newestLeaf,
} from "./entry-index.ts";
import { wholeLines } from "./released-line.ts";

/**
 * Context of the agent. It begins at the last boundary, or at the start of the session if there is no
 * boundary. It ends at the newest leaf.
 */
export interface Conversation {
  readonly entries: readonly Entry[];
  /** Parent of the next entry. */
  readonly leafUuid: string | undefined;
  readonly boundary: CompactBoundaryEntry | undefined;
  /** Entries whose parent is missing. Each counts as following the line above it. */
  readonly bridgedUuids: readonly string[];
  /** Results that micro-compactions cleared in the agent's memory. On disk they are complete. */
  readonly clearedToolUseIds: ReadonlySet<string>;
}

/** Returns the current conversation of a session from all its entries in file order. */
export function currentConversation(entries: readonly Entry[]): Conversation {
  return conversationOf(indexEntries(entries));
}

/** Returns the conversation of an indexed whole file. */
export const conversationOf = (index: EntryIndex): Conversation => asConversation(currentLines(index));

/** Returns the lines of the current conversation, as the file contains them. */
export const currentLines = (index: EntryIndex): ConversationLines => linesOrNone(linesFrom(index));

const NO_LINES: ConversationLines = Object.freeze({
  lines: [],
  leafUuid: undefined,
  boundary: undefined,
  bridgedUuids: [],
  clearedToolUseIds: new Set<string>(),
});

const linesOrNone = (found: ConversationLines | MoreNeeded | undefined): ConversationLines =>
  found === undefined || isMoreNeeded(found) ? NO_LINES : found;

/**
 * Applies stand-ins (entries that replace other messages), and removes thinking that the API would refuse.
 */
export function asConversation({ lines, ...conversation }: ConversationLines): Conversation {
  const { boundary } = conversation;
  const whole = wholeLines(lines);
  return { ...conversation, entries: withStandInsApplied(withoutRefusedThinking(whole, boundary)) };
}

/**
 * Returns the same entries as {@link asConversation}, but does not read released lines from the file if
 * nothing changes them.
 */
export function shownLines(conversation: ConversationLines): readonly Entry[] {
  const { lines, boundary } = conversation;
  const isAsWritten = withStandInsApplied(withoutRefusedThinking(lines, boundary)) === lines;
  return isAsWritten ? lines : asConversation(conversation).entries;
}

/**
 * Conversation as the file contains it. It includes the messages that stand-ins replace, and all thinking.
 */
export interface ConversationLines extends Omit<Conversation, "entries"> {
  readonly lines: readonly Entry[];
}

/**
 * Returns the lines of a conversation, or requests more of the file if too little was read.
 * @param walker walker of this index. Pass the same walker when you read many conversations of one session.
 */
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
  // Progress lines are links of the chain, but were only displayed on the screen.
  const lines = onChain.some(isProgress) ? onChain.filter((entry) => !isProgress(entry)) : onChain;
  return {
    lines,
    leafUuid: index.entries[leafAt]?.uuid,
    boundary: boundaryAt(index, oldestFirst[0] ?? -1),
    bridgedUuids: chain.bridged.map((position) => index.entries[position]?.uuid ?? ""),
    clearedToolUseIds: clearedIdsIn(lines),
  };
}

/**
 * Returns the list of the index itself if it contains exactly these entries, because copying a long list
 * takes memory.
 */
function entriesAt({ entries }: EntryIndex, order: ArrayLike<number>): readonly Entry[] {
  const isAll = order.length === entries.length && entries.every((_, at) => order[at] === at);
  return isAll ? entries : Array.from(order, (position) => entries[position] as Entry);
}

const isProgress = ({ type }: Entry): boolean => type === "progress";

/**
 * Returns the conversation as it was before a compaction. The boundary's `logicalParentUuid` is only a hint.
 * If that line is missing, the line above the boundary counts.
 */
export function historyBefore(entries: readonly Entry[], boundary: CompactBoundaryEntry): Conversation {
  return indexedBefore(indexEntries(entries), boundary);
}

/** Returns the conversation before any line of an indexed whole file. */
export const indexedBefore = (index: EntryIndex, line: Entry): Conversation =>
  asConversation(indexedLinesBefore(index, line));

/** Returns the lines of the conversation before a line, as the file contains them. */
export function indexedLinesBefore(index: EntryIndex, line: Entry, walker?: ChainWalker): ConversationLines {
  const moment = momentBefore(index, line);
  return linesOrNone(moment && linesFrom(index, moment.leaf, moment.before, walker));
}

/**
 * Returns the lines that led to a boundary. The boundary of an undo repeats a conversation. For such a
 * boundary, returns the lines that led to that conversation.
 */
export function stretchBefore(index: EntryIndex, boundary: CompactBoundaryEntry): ConversationLines {
  const continued = index.entries[index.positions.get(undoRecordOf(boundary)?.before ?? "") ?? -1];
  return indexedLinesBefore(index, continued ?? boundary);
}

/**
 * Returns the leaf of the conversation from before a line was written, and the file position of that line.
 */
function momentBefore(
  index: EntryIndex,
  line: Entry,
): { readonly leaf: number; readonly before: number } | undefined {
  const before = index.positions.get(line.uuid ?? "");
  const back = rewindRecordOf(line);
  const isRewrite = back !== undefined || isCompactBoundary(line);
  // If a line has no parent, nothing precedes it. A rewrite is an exception, because it names its predecessor
  // in another field.
  if (before === undefined || (line.parentUuid === null && !isRewrite)) return undefined;
  const above = isCompactBoundary(line) ? line.logicalParentUuid : line.parentUuid;
  const hinted = index.positions.get((back === undefined ? above : back.leftUuid) ?? "");
  const leaf = hinted !== undefined && hinted < before ? hinted : newestLeaf(index, before);
  return leaf === undefined ? undefined : { leaf, before };
}

/**
 * Adds entries that the agent had in its context, but that are not on the chain. One response is written as
 * several entries, and each parallel result has its own call as parent. The next response has only the last
 * result as parent, so all other results are side leaves. Branches that the user abandoned stay out.
 *
 * An undo restores the conversation from before the undone step. So lines between that step and the undo are
 * not part of the conversation.
 *
 * @param mayTake true if a line off the chain can belong to the conversation
 */
function reattachParallelEntries(
  index: EntryIndex,
  chain: Int32Array,
  before: number = index.entries.length,
  mayTake: (position: number) => boolean = () => true,
): ArrayLike<number> {
  if (!hasOffChainLines(index, chain, before)) return chain;
  const round = new Round(index, mayTake);
  let from = before;
  for (const position of chain) {
    const asOf = continuedBefore(index, position);
    if (asOf !== position) {
      round.offerBetween(from, asOf);
      from = position;
    }
    round.add(position);
    from = Math.min(from, position);
  }
  round.offerBetween(from, before);
  round.offerFirst(before);
  return round.inOrder();
}

/**
 * Checks whether a line off the chain could belong to the conversation. If no line could, a long session
 * needs no memory for calls.
 */
function hasOffChainLines(index: EntryIndex, chain: Int32Array, before: number): boolean {
  const onChain = new PositionSet();
  let first = before;
  for (const position of chain) {
    if (continuedBefore(index, position) !== position) return true;
    onChain.add(position);
    first = Math.min(first, position);
  }
  const isBeside = (position: number): boolean => position < before && !onChain.has(position);
  if (index.queued.some(isBeside)) return true;
  for (let position = first + 1; position < before; position++) {
    const entry = index.entries[position];
    if (entry !== undefined && isBeside(position) && isOnMainThread(index, entry)) return true;
  }
  return false;
}

/** Entries selected so far, and the calls and results that they still lack. */
class Round {
  readonly #index: EntryIndex;
  readonly #mayTake: (position: number) => boolean;
  readonly #chain: number[] = [];
  /**
   * Slots of the selected entries. The key is the position of an entry. The value is the index of the element
   * of the chain that it follows.
   */
  readonly #slots = new Map<number, number>();
  readonly #siblings = new Map<string, AssistantEntry[]>();
  readonly #callSlots = new Map<string, { readonly slot: number; readonly messageId: string | undefined }>();
  readonly #answered = new Set<string>();
  /**
   * Entries off the chain that are neither call nor result. They connect a selected entry to an entry that
   * may be selected later.
   */
  readonly #connectors = new Set<number>();
  readonly #extrasBySlot = new Map<number, number[]>();

  constructor(index: EntryIndex, mayTake: (position: number) => boolean) {
    this.#index = index;
    this.#mayTake = mayTake;
  }

  /** Adds the next element of the chain. */
  add(position: number): void {
    const slot = this.#chain.push(position) - 1;
    this.#slots.set(position, slot);
    const entry = this.#index.entries[position];
    if (entry !== undefined) this.#remember(entry, slot);
  }

  offerBetween(from: number, before: number): void {
    for (let position = from + 1; position < before; position++) this.#offer(position);
  }

  #offer(position: number): void {
    const entry = this.#index.entries[position];
    if (entry === undefined || this.#slots.has(position) || !isOnMainThread(this.#index, entry)) return;
    if (!this.#mayTake(position)) return;
    if (this.#index.positions.get(entry.uuid ?? "") !== position) return;
    if (isFromQueue(entry)) this.#offerQueued(position, entry);
    else if (entry.type === "assistant") this.#offerSibling(position, entry);
    else if (entry.type === "user") this.#offerResult(position, entry);
    else this.#offerOther(position, entry);
  }

  inOrder(): readonly number[] {
    if (this.#extrasBySlot.size === 0) return this.#chain;
    const extrasAt = (slot: number): readonly number[] =>
      this.#extrasBySlot.get(slot)?.sort((a, b) => a - b) ?? [];
    return [...extrasAt(-1), ...this.#chain.flatMap((position, slot) => [position, ...extrasAt(slot)])];
  }

  /** Adds a queued message after the message above it in the file, where the agent received it. */
  #offerQueued(position: number, entry: UserEntry): void {
    const from = this.#slots.get(this.#index.positions.get(entry.parentUuid ?? "") ?? -1);
    if (from !== undefined) this.#take(position, entry, from, undefined);
  }

  /**
   * Adds a queued message at the start. In a file that starts in the middle of a session, a queued message
   * may precede every other message.
   */
  offerFirst(before: number): void {
    const queued: number[] = [];
    for (let position = 0; position < before; position++) {
      const entry = this.#index.entries[position];
      if (entry === undefined || !isOnMainThread(this.#index, entry)) continue;
      if (isCompactBoundary(entry)) queued.length = 0;
      else if (isFromQueue(entry)) queued.push(position);
      else if (entry.type === "user" || entry.type === "assistant") {
        const first = this.#slots.get(position);
        if (first !== undefined && queued.length > 0) this.#extrasBySlot.set(first - 1, queued);
        return;
      }
    }
  }

  /**
   * Adds an entry of the same response. Skips copies on an abandoned branch, which have other parents or
   * repeat the content.
   */
  #offerSibling(position: number, entry: AssistantEntry): void {
    const messageId = entry.message.id;
    const siblings = messageId === undefined ? undefined : this.#siblings.get(messageId);
    const from = this.#slotOfParent(entry);
    if (siblings === undefined || from === undefined) return;
    const content = JSON.stringify(entry.message.content);
    if (siblings.some((sibling) => JSON.stringify(sibling.message.content) === content)) return;
    this.#take(position, entry, from, messageId);
  }

  #offerResult(position: number, entry: UserEntry): void {
    for (const id of resultIds(entry)) {
      const call = this.#callSlots.get(id);
      if (call === undefined || this.#answered.has(id)) continue;
      this.#take(position, entry, call.slot, call.messageId);
      return;
    }
  }

  /**
   * Handles an entry that is neither call nor result. Adds hook output about a parallel result, which was in
   * the context too. Does not add entries that lead to an abandoned branch.
   */
  #offerOther(position: number, entry: Entry): void {
    const from = this.#slotOfParent(entry);
    if (from === undefined) return;
    const parent = this.#index.positions.get(entry.parentUuid ?? "") ?? -1;
    const hangsOnExtra = this.#slots.has(parent) && this.#chain[this.#slots.get(parent) ?? -1] !== parent;
    if (entry.type === "attachment" && hangsOnExtra) this.#take(position, entry, from, undefined);
    else this.#connectors.add(position);
  }

  #take(position: number, entry: Entry, from: number, messageId: string | undefined): void {
    const slot = this.#lastSlotOfRound(from, position, messageId);
    this.#slots.set(position, slot);
    const extras = this.#extrasBySlot.get(slot) ?? [];
    this.#extrasBySlot.set(slot, extras);
    extras.push(position, ...this.#connectorsAbove(entry, slot));
    this.#remember(entry, slot);
  }

  #connectorsAbove(entry: Entry, slot: number): number[] {
    const found: number[] = [];
    let above = this.#index.positions.get(entry.parentUuid ?? "");
    while (above !== undefined && this.#connectors.delete(above)) {
      found.push(above);
      this.#slots.set(above, slot);
      above = this.#index.positions.get(this.#index.entries[above]?.parentUuid ?? "");
    }
    return found;
  }

  /**
   * Returns the last slot of the round. Keeps the file order among the entries of one response and its
   * results. The slot is never past the next response or prompt.
   */
  #lastSlotOfRound(from: number, position: number, messageId: string | undefined): number {
    let slot = from;
    for (;;) {
      const next = this.#chain[slot + 1];
      if (next === undefined || next > position) return slot;
      const entry = this.#index.entries[next];
      if (entry?.type === "assistant" && entry.message.id !== messageId) return slot;
      if (entry?.type === "user" && resultIds(entry).length === 0) return slot;
      slot++;
    }
  }

  #slotOfParent(entry: Entry): number | undefined {
    let parent = this.#index.positions.get(entry.parentUuid ?? "");
    for (let steps = 0; parent !== undefined && steps <= this.#connectors.size; steps++) {
      const slot = this.#slots.get(parent);
      if (slot !== undefined) return slot;
      if (!this.#connectors.has(parent)) return undefined;
      parent = this.#index.positions.get(this.#index.entries[parent]?.parentUuid ?? "");
    }
    return undefined;
  }

  #remember(entry: Entry, slot: number): void {
    if (entry.type === "user") for (const id of resultIds(entry)) this.#answered.add(id);
    if (entry.type !== "assistant") return;
    const messageId = entry.message.id;
    if (messageId !== undefined) {
      const siblings = this.#siblings.get(messageId);
      if (siblings === undefined) this.#siblings.set(messageId, [entry]);
      else siblings.push(entry);
    }
    for (const block of blocksOf(entry)) {
      if (block.type === "tool_use") this.#callSlots.set(block.id, { slot, messageId });
    }
  }
}

function blocksOf(entry: UserEntry | AssistantEntry): readonly ContentBlock[] {
  return typeof entry.message.content === "string" ? [] : entry.message.content;
}

function resultIds(entry: UserEntry): readonly string[] {
  const ids: string[] = [];
  for (const block of blocksOf(entry)) if (block.type === "tool_result") ids.push(block.tool_use_id);
  return ids;
}
