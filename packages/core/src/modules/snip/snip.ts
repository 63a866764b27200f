import { type CompactionPorts, newLink } from "../../compaction/apply/new-entries.ts";
import { locateMessage, type MessageRef, messageNotFound } from "../../compaction/plan/choose-cut.ts";
import { lastBoundaryIndex } from "../../compaction/plan/sized.ts";
import { type Entry, entryBlocks, isEntry, isSummaryEntry } from "../../messages/entry.ts";
import { newestLine } from "../../messages/lines.ts";
import { indexPairs, laterResponseEntries } from "../../messages/pairs.ts";
import { requireApiMessages } from "../../messages/require-messages.ts";
import { firstUnseenIndex } from "../../messages/responses.ts";
import {
  isSettled,
  isSnipMarker,
  type SnipMarker,
  type SnipRecord,
  snippedUuids,
  standInUuids,
} from "../../messages/stand-ins.ts";
import { withoutThinkingFrom } from "../../messages/without-thinking.ts";
import { isSentAttachment } from "../../request/flatten/attachment-content.ts";
import { countOriginalMessages } from "../../request/flatten/count-messages.ts";

/**
 * Selects the messages to remove. If ids are given, entries that belong to a chosen message are removed with
 * it. If a range or a number of turns is given, a message stays if it belongs to a message that stays. An
 * index counts from the last boundary in the current conversation. Summaries are never removed, because
 * nothing else is left of their messages. A collapsed span is removed as a whole. The newest call stays with
 * its results until a model has seen them.
 */
export type SnipSelection =
  | { readonly ids: readonly string[] }
  /** A range of messages that includes both ends. */
  | { readonly from: MessageRef; readonly to: MessageRef }
  | { readonly keepLastTurns: number };

export interface SnipOptions {
  readonly ports: CompactionPorts;
  /** Estimates the provider's token count of an entry. */
  readonly tokensOf: (entry: Entry) => number;
  /**
   * The newest line of the transcript, if the host knows it. The entries do not always contain this line. For
   * example, a marker that was merged into a later marker is still a line, but no longer an entry.
   */
  readonly leafUuid?: string | null | undefined;
  /**
   * True if a thinking block is valid only after the exact history before it. The snip changes that history.
   */
  readonly bindsThinking?: boolean | undefined;
  readonly transcriptPath?: string | undefined;
}

export interface Snipped {
  /** The conversation after the snip. The same list if nothing was removed. */
  readonly entries: readonly Entry[];
  /** Number of removed entries, attachments included. */
  readonly removed: number;
  /** Number of request messages that the removed entries make up. */
  readonly messages: number;
  /** Number of removed entries that were not chosen but belong to a chosen one. */
  readonly added: number;
  /** Number of chosen entries that stay because they belong to an entry that stays. */
  readonly spared: number;
  /** Tokens in the last reported usage that the conversation no longer contains. */
  readonly tokensFreed: number;
  readonly markers: readonly SnipMarker[];
  /** Number of thinking blocks that were removed because the provider rejects them after the change. */
  readonly thinkingBlocks: number;
}

/**
 * Removes chosen messages completely and leaves a marker in their place. Removing them again changes nothing.
 */
export function snip(entries: readonly Entry[], selection: SnipSelection, options: SnipOptions): Snipped {
  requireApiMessages(entries);
  const chosen = chosenIndexes(entries, selection);
  const doomed = wholeGroups(entries, chosen, "ids" in selection);
  if (doomed.size === 0) return nothing(entries, chosen.size);
  const { left, markers, freed, firstChange } = takeOut(entries, doomed, options);
  const sendable = options.bindsThinking
    ? withoutThinkingFrom(left, firstChange)
    : { entries: left, blocks: 0 };
  return {
    entries: sendable.entries,
    removed: doomed.size,
    messages: snippedMessages(left) - snippedMessages(entries),
    added: [...doomed].filter((index) => !chosen.has(index)).length,
    spared: [...chosen].filter((index) => !doomed.has(index)).length,
    tokensFreed: Math.max(0, Math.round(freed)),
    markers,
    thinkingBlocks: sendable.blocks,
  };
}

const snippedMessages = (entries: readonly Entry[]): number =>
  countOriginalMessages(entries.filter((entry) => isEntry(entry) && isSnipMarker(entry)));

function nothing(entries: readonly Entry[], spared: number): Snipped {
  return {
    entries,
    removed: 0,
    messages: 0,
    added: 0,
    spared,
    tokensFreed: 0,
    markers: [],
    thinkingBlocks: 0,
  };
}

function chosenIndexes(entries: readonly Entry[], selection: SnipSelection): ReadonlySet<number> {
  const first = lastBoundaryIndex(entries);
  const chosen = new Set<number>();
  const choose = (index: number): void => {
    const entry = entries[index];
    if (entry !== undefined && isRemovable(entry)) chosen.add(index);
  };
  if ("ids" in selection) for (const index of placesOf(entries, first, selection.ids)) choose(index);
  else {
    const [from, to] =
      "from" in selection ? range(entries, first, selection) : [first, turnStart(entries, selection)];
    for (let index = Math.max(first, from); index < to; index++) choose(index);
  }
  return chosen;
}

function isRemovable(entry: Entry): boolean {
  if (!isEntry(entry)) return false;
  if (entry.type === "attachment") return isSentAttachment(entry);
  if (entry.type !== "user" && entry.type !== "assistant") return false;
  return !isSnipMarker(entry) && !isSummaryEntry(entry);
}

/** Finds entries by id. For a removed or collapsed message, finds its marker or span. */
function placesOf(entries: readonly Entry[], first: number, ids: readonly string[]): readonly number[] {
  const places = new Map<string, number>();
  for (let index = first; index < entries.length; index++) {
    const entry = entries[index];
    if (!isEntry(entry)) continue;
    for (const uuid of standInUuids(entry)) places.set(uuid, index);
    if (typeof entry.uuid === "string") places.set(entry.uuid, index);
  }
  return ids.map((id) => {
    const place = places.get(id);
    if (place === undefined) throw messageNotFound(id);
    return place;
  });
}

function range(
  entries: readonly Entry[],
  first: number,
  { from, to }: { readonly from: MessageRef; readonly to: MessageRef },
): readonly [number, number] {
  const place = (ref: MessageRef): number => {
    if (typeof ref === "string") return placesOf(entries, first, [ref])[0] ?? first;
    const index = locateMessage(entries.slice(first), ref);
    if (index === undefined) throw messageNotFound(ref);
    return first + index;
  };
  const [one, other] = [place(from), place(to)];
  return [Math.min(one, other), Math.max(one, other) + 1];
}

/** Finds the start of the turns to keep. Returns the start of the conversation if it has fewer turns. */
function turnStart(entries: readonly Entry[], { keepLastTurns }: { readonly keepLastTurns: number }): number {
  if (!(keepLastTurns > 0)) return keepLastTurns === 0 ? entries.length : 0;
  let turns = 0;
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry !== undefined && isPrompt(entry) && ++turns >= keepLastTurns) return index;
  }
  return 0;
}

/** Returns true if the user started a turn here. */
function isPrompt(entry: Entry): boolean {
  if (!isEntry(entry) || entry.type !== "user" || entry.isMeta === true || !isRemovable(entry)) return false;
  return !entryBlocks(entry).some((block) => block.type === "tool_result");
}

function wholeGroups(
  entries: readonly Entry[],
  chosen: ReadonlySet<number>,
  extend: boolean,
): ReadonlySet<number> {
  if (chosen.size === 0) return chosen;
  // Entries before the last boundary are not in the conversation, even if later entries seem to belong to
  // them.
  const first = lastBoundaryIndex(entries);
  const groups = boundGroups(entries.slice(first));
  const touched = new Set<number>();
  for (const [at, group] of groups.entries()) if (chosen.has(first + at) === extend) touched.add(group);
  const held = unseenGroups(entries.slice(first), groups);
  const doomed = new Set<number>();
  for (const [at, group] of groups.entries()) {
    if (touched.has(group) === extend && !held.has(group)) doomed.add(first + at);
  }
  return doomed;
}

/** Returns the group of the newest call, which stays with its results until a model has seen them. */
function unseenGroups(entries: readonly Entry[], groups: readonly number[]): ReadonlySet<number> {
  const at = firstUnseenIndex(entries);
  return new Set(at === entries.length ? [] : [groups[at] ?? -1]);
}

interface TakenOut {
  readonly left: readonly Entry[];
  readonly markers: readonly SnipMarker[];
  readonly freed: number;
  /** Index of the first new marker in `left`. */
  readonly firstChange: number;
}

/**
 * Puts one marker in place of each run of removed entries and merges earlier markers into it. Entries that
 * are not sent do not interrupt a run.
 */
function takeOut(
  entries: readonly Entry[],
  doomed: ReadonlySet<number>,
  { ports, tokensOf, transcriptPath, bindsThinking = false, leafUuid }: SnipOptions,
): TakenOut {
  const left: (Entry | undefined)[] = [];
  const markers: SnipMarker[] = [];
  let freed = 0;
  let run: { readonly at: number; readonly gone: Entry[]; hasNew: boolean } | undefined;
  const close = (): void => {
    if (run === undefined) return;
    const marker = run.hasNew || run.gone.length > 1 ? markerFor(run.gone) : undefined;
    left[run.at] = marker ?? run.gone[0];
    if (marker !== undefined) {
      markers.push(marker);
      freed -= tokensOf(marker);
      for (const entry of run.gone) freed += tokensOf(entry);
    }
    run = undefined;
  };
  let newest = newestLine(entries);
  let leaf = leafUuid;
  const markerFor = (gone: readonly Entry[]): SnipMarker => {
    const made = createSnipMarker(recordOf(gone, bindsThinking), transcriptPath, newest, ports);
    const marker = leaf === undefined ? made : { ...made, parentUuid: leaf };
    newest = marker;
    if (leaf !== undefined) leaf = marker.uuid;
    return marker;
  };
  for (const [index, entry] of entries.entries()) {
    const isGone = doomed.has(index);
    if (isGone || isSnipMarker(entry)) {
      run ??= { at: left.push(undefined) - 1, gone: [], hasNew: false };
      run.gone.push(entry);
      run.hasNew ||= isGone;
      continue;
    }
    if (isRemovable(entry) || (isEntry(entry) && isSummaryEntry(entry))) close();
    left.push(entry);
  }
  close();
  const kept = left as readonly Entry[];
  const isNew = new Set<Entry>(markers);
  return { left: kept, markers, freed, firstChange: kept.findIndex((entry) => isNew.has(entry)) };
}

function recordOf(gone: readonly Entry[], bindsThinking: boolean): SnipMarker["snipped"] {
  const uuids: string[] = [];
  for (const entry of gone) {
    // Skip markers from before a compaction, because they do not affect anything after its boundary.
    if (isSnipMarker(entry) && !isSettled(entry)) for (const uuid of snippedUuids(entry)) uuids.push(uuid);
    if (typeof entry.uuid === "string") uuids.push(entry.uuid);
  }
  return { messages: countOriginalMessages(gone), uuids, ...(bindsThinking ? { bindsThinking } : {}) };
}

/**
 * Creates a marker. On disk, the marker is a new line at the end, so its parent is the newest line and not
 * the entry before the marker. With another parent, a reader would mistake the conversation for a rewound
 * one.
 */
export function createSnipMarker(
  record: SnipRecord,
  transcriptPath: string | undefined,
  newest: Entry | undefined,
  ports: CompactionPorts,
): SnipMarker {
  const content = markerText(record.messages, transcriptPath);
  return {
    ...newLink(newest === undefined ? [] : [newest], newest?.uuid ?? null, ports),
    type: "user",
    message: { role: "user", content },
    isMeta: true,
    snipped: record,
  };
}

function markerText(messages: number, transcriptPath: string | undefined): string {
  const what = messages === 1 ? "1 message was" : `${messages} messages were`;
  const where = transcriptPath === undefined ? "" : ` Their text is in the transcript: ${transcriptPath}`;
  return `[${what} removed here to make room.${where}]`;
}

/**
 * Returns the group number of each entry. Entries of one response, calls and their results form one group,
 * because none of them can be removed without the others. Every other entry is a separate group.
 */
export function boundGroups(entries: readonly Entry[]): readonly number[] {
  const leaders = entries.map((_, index) => index);
  for (const [first, later] of laterResponseEntries(entries)) join(leaders, first, later);
  const { pairs, repeatedUses, orphanResults } = indexPairs(entries);
  for (const { use, results } of pairs.values()) {
    for (const result of results) join(leaders, use.entryIndex, result.entryIndex);
  }
  for (const repeated of repeatedUses) {
    join(leaders, pairs.get(repeated.block.id)?.use.entryIndex ?? repeated.entryIndex, repeated.entryIndex);
  }
  // Results without a call. If several of them have the same id, they still belong together.
  const firstOrphan = new Map<string, number>();
  for (const { block, entryIndex } of orphanResults) {
    join(leaders, firstOrphan.get(block.tool_use_id) ?? entryIndex, entryIndex);
    firstOrphan.set(block.tool_use_id, entryIndex);
  }
  return leaders.map((_, index) => leaderOf(leaders, index));
}

function join(leaders: number[], one: number, other: number): void {
  const [a, b] = [leaderOf(leaders, one), leaderOf(leaders, other)];
  leaders[Math.max(a, b)] = Math.min(a, b);
}

/**
 * Finds the first entry of the group that contains this entry, and shortens the path to it for later lookups.
 */
function leaderOf(leaders: number[], index: number): number {
  let at = index;
  for (;;) {
    const above = leaders[at] ?? at;
    if (above === at) return at;
    leaders[at] = leaders[above] ?? above;
    at = above;
  }
}
