import { clearedIdsIn } from "../conversation/cleared.ts";
import type { CompactBoundaryEntry, Entry } from "../conversation/entry.ts";
import { withoutRefusedThinking } from "../conversation/refused-thinking.ts";
import { withStandInsApplied } from "../conversation/stand-ins.ts";
import { ChainWalker, isMoreNeeded, type MoreNeeded } from "./chain.ts";
import { boundaryAt, type EntryIndex, indexEntries, newestLeaf } from "./entry-index.ts";
import { reattachParallelEntries } from "./reattach.ts";

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

const EMPTY: Conversation = Object.freeze({
  entries: [],
  leafUuid: undefined,
  boundary: undefined,
  bridgedUuids: [],
  clearedToolUseIds: new Set<string>(),
});

export function conversationFrom(
  index: EntryIndex,
  leaf?: number,
  before?: number,
): Conversation | MoreNeeded {
  const start = leaf ?? newestLeaf(index, before);
  if (start === undefined) return index.isWholeFile ? EMPTY : { needs: "boundary" };
  const chain = new ChainWalker(index).walkFrom(start, before);
  if (isMoreNeeded(chain)) return chain;
  const oldestFirst = chain.newestFirst.toReversed();
  const order = reattachParallelEntries(index, oldestFirst, before);
  const entries: Entry[] = [];
  for (const position of order) {
    const entry = index.entries[position];
    // Progress lines are links of the chain, but were only ever shown on the screen.
    if (entry !== undefined && entry.type !== "progress") entries.push(entry);
  }
  const boundary = boundaryAt(index, oldestFirst[0] ?? -1);
  return {
    entries: withStandInsApplied(withoutRefusedThinking(entries, boundary)),
    leafUuid: index.entries[chain.newestFirst[0] ?? start]?.uuid,
    boundary,
    bridgedUuids: chain.bridged.map((position) => index.entries[position]?.uuid ?? ""),
    clearedToolUseIds: clearedIdsIn(entries),
  };
}

/**
 * The conversation as it was right before a compaction, for going back across it. The boundary's
 * `logicalParentUuid` is only a hint: where it names no line, the line above the boundary is meant.
 */
export function historyBefore(entries: readonly Entry[], boundary: CompactBoundaryEntry): Conversation {
  return indexedBefore(indexEntries(entries), boundary);
}

/** The same, of a whole file that has been indexed. */
export function indexedBefore(index: EntryIndex, boundary: CompactBoundaryEntry): Conversation {
  const position = index.positions.get(boundary.uuid);
  if (position === undefined) return EMPTY;
  const hinted = index.positions.get(boundary.logicalParentUuid ?? "");
  const leaf = hinted !== undefined && hinted < position ? hinted : newestLeaf(index, position);
  if (leaf === undefined) return EMPTY;
  const found = conversationFrom(index, leaf, position);
  return isMoreNeeded(found) ? EMPTY : found;
}
