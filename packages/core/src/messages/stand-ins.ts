import {
  type CollapseMark,
  type Entry,
  entryBlocks,
  isCompactBoundary,
  isEntry,
  isMicrocompactBoundary,
  isSummaryEntry,
  rawContent,
  type SnipEnd,
  type UserEntry,
} from "./entry.ts";
import { type ContentBlock, isBlock, type ToolResultBlock } from "./message.ts";
import { contentText, field, stringField, stringListField } from "./untrusted.ts";

/**
 * Stand-ins: entries and texts in the place of older content. A snip leaves a marker, a collapse a span with a summary,
 * and a cleared tool result one fixed text.
 */

/** What stands where messages were removed: how many, and which, so that they can be found again. */
export interface SnipMarker extends UserEntry {
  readonly snipped: SnipRecord;
}

export interface SnipRecord {
  readonly messages: number;
  readonly uuids: readonly string[];
  /** The model ties thinking to the history before it: that of messages after the removed ones went with them. */
  readonly bindsThinking?: boolean;
  /** A compaction took it over, or a change of the host moved its line: its messages are not in front of it any more. */
  readonly isSettled?: boolean;
}

export function isSnipEnd(entry: Entry): entry is SnipEnd {
  if (!isEntry(entry) || entry.type !== "system") return false;
  return typeof field(field(entry, "snip"), "tokensSaved") === "number";
}

export function isSnipMarker(entry: Entry): entry is SnipMarker {
  return (
    isEntry(entry) && entry.type === "user" && typeof field(field(entry, "snipped"), "messages") === "number"
  );
}

/** Uuids of what this entry stands for; none where it is no marker. */
export function snippedUuids(entry: Entry): readonly string[] {
  return isSnipMarker(entry) ? stringListField(entry.snipped, "uuids") : [];
}

/** What stands where a span of old messages was collapsed: its summary, and which messages those were. */
export interface CollapsedSpan extends UserEntry {
  readonly collapsed: CollapseRecord;
}

export interface CollapseRecord {
  /** By which it can be expanded again. */
  readonly spanId: string;
  readonly messages: number;
  /** Everything that stood there, in its order: messages, and spans and markers of earlier times. */
  readonly uuids: readonly string[];
  /** What its messages held, and what the summary holds, in tokens. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The model ties thinking to the history before it: that of messages after the span went with it. */
  readonly bindsThinking?: boolean;
  /** Results in it that had been cleared: where its messages are kept they are whole. */
  readonly clearedToolUseIds?: readonly string[];
  /** A compaction took it over, or a change of the host moved its line: its messages can be read but not put back. */
  readonly isSettled?: boolean;
}

/** One without a summary stands for nothing, whatever it claims. */
export function isCollapsedSpan(entry: Entry): entry is CollapsedSpan {
  if (!isEntry(entry) || entry.type !== "user") return false;
  const spanId = stringField(field(entry, "collapsed"), "spanId");
  return spanId !== undefined && contentText(rawContent(entry)).trim() !== "";
}

/** Uuids of what this entry stands for; none where it is no span. */
export function collapsedUuids(entry: Entry): readonly string[] {
  return isCollapsedSpan(entry) ? stringListField(entry.collapsed, "uuids") : [];
}

export function isCollapseMark(entry: Entry): entry is CollapseMark {
  if (!isEntry(entry) || entry.type !== "system") return false;
  return entry.subtype === "collapse_committed" || entry.subtype === "collapse_expanded";
}

/** The spans that this line ends the commit of; none where it is no such line. */
export function committedSpanIds(entry: Entry): readonly string[] {
  return spanIdsOf(entry, "collapse_committed");
}

/** The spans that this line takes back; none where it is no such line. */
export function expandedSpanIds(entry: Entry): readonly string[] {
  return spanIdsOf(entry, "collapse_expanded");
}

function spanIdsOf(entry: Entry, subtype: CollapseMark["subtype"]): readonly string[] {
  if (!isCollapseMark(entry) || entry.subtype !== subtype) return [];
  return stringListField(entry.collapse, "spanIds");
}

/** Byte-stable: a text that varied from turn to turn would break the prompt cache on every turn. */
export const CLEARED_RESULT_TEXT = "[Old tool result content cleared]";

/** Results that micro-compactions emptied: on disk they are whole, and only these marks tell. */
export function clearedIdsIn(entries: readonly Entry[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const entry of entries) {
    if (!isEntry(entry) || !isMicrocompactBoundary(entry)) continue;
    for (const id of stringListField(entry.microcompactMetadata, "compactedToolIds")) ids.add(id);
  }
  return ids;
}

export function isCleared(block: ToolResultBlock): boolean {
  return block.content === CLEARED_RESULT_TEXT;
}

/** Ids of the results in this entry that say no more than that they were cleared. */
export function clearedResultIds(entry: Entry): readonly string[] {
  if (!isEntry(entry) || entry.type !== "user") return [];
  return entryBlocks(entry).flatMap((block) =>
    block.type === "tool_result" && isCleared(block) ? [block.tool_use_id] : [],
  );
}

/** The conversation as the model sees it once these results are cleared: block, id and tool use stay. */
export function withClearedResults(
  entries: readonly Entry[],
  clearedToolUseIds: ReadonlySet<string>,
): readonly Entry[] {
  if (clearedToolUseIds.size === 0) return entries;
  return withClearedResultsAt(entries, entries.keys(), clearedToolUseIds);
}

/** As {@link withClearedResults}, where it is known which entries hold them: all others are not looked at. */
export function withClearedResultsAt(
  entries: readonly Entry[],
  indexes: Iterable<number>,
  clearedToolUseIds: ReadonlySet<string>,
): readonly Entry[] {
  let rewritten: Entry[] | undefined;
  for (const index of indexes) {
    const entry = entries[index];
    if (entry === undefined) continue;
    const after = clearInEntry(entry, clearedToolUseIds);
    if (after === entry) continue;
    rewritten ??= entries.slice();
    rewritten[index] = after;
  }
  return rewritten ?? entries;
}

function clearInEntry(entry: Entry, ids: ReadonlySet<string>): Entry {
  if (!isEntry(entry) || entry.type !== "user") return entry;
  const content = rawContent(entry);
  if (!Array.isArray(content)) return entry;
  let cleared: unknown[] | undefined;
  for (let at = 0; at < content.length; at++) {
    const block: unknown = content[at];
    if (!isStale(block, ids)) continue;
    cleared ??= content.slice();
    cleared[at] = { ...block, content: CLEARED_RESULT_TEXT };
  }
  if (cleared === undefined) return entry;
  return { ...entry, message: { ...entry.message, content: cleared as readonly ContentBlock[] } };
}

function isStale(block: unknown, ids: ReadonlySet<string>): block is ToolResultBlock {
  return isBlock(block) && block.type === "tool_result" && ids.has(block.tool_use_id) && !isCleared(block);
}

/** What stands in the place of other entries: a marker where messages were removed, or a collapsed span. */
export function isStandIn(entry: Entry): entry is SnipMarker | CollapsedSpan {
  return isSnipMarker(entry) || isCollapsedSpan(entry);
}

/** True if the stand-in no longer leads back to its messages: it is all that the conversation has of them. */
export const isSettled = (entry: SnipMarker | CollapsedSpan): boolean =>
  (isSnipMarker(entry) ? entry.snipped.isSettled : entry.collapsed.isSettled) === true;

/** Uuids of what this entry stands for. */
export function standInUuids(entry: Entry): readonly string[] {
  return isSnipMarker(entry) ? snippedUuids(entry) : collapsedUuids(entry);
}

export const standsFor = (entry: Entry, uuid: string): boolean => standInUuids(entry).includes(uuid);

/** Nothing can stand for the boundary of a compaction or for its summary: they are all that is left. */
export function mayGiveWay(entry: Entry): boolean {
  return isEntry(entry) && !isCompactBoundary(entry) && !isSummaryEntry(entry);
}

/**
 * A transcript as the conversation was: there the messages are still in their place, and what stands for them is a
 * line further on. It comes where the first of them was; a span that was expanded gives way to what it stood for.
 *
 * The lines are taken in their order, so that the newest word counts. A line can claim only what stands above it
 * and is not claimed yet: nothing can run in a circle, and whatever is claimed wrongly stays to be seen.
 */
export function withStandInsApplied(entries: readonly Entry[]): readonly Entry[] {
  if (!entries.some(isStandIn)) return entries;
  return new Projection(entries).shown();
}

class Projection {
  readonly #entries: readonly Entry[];
  /** By index: that of the line which stands for it. Always a later one. */
  readonly #owners = new Map<number, number>();
  readonly #claims = new Map<number, readonly number[]>();
  /** Spans that were expanded. */
  readonly #gone = new Set<number>();
  readonly #places = new Map<string, number>();
  readonly #spans = new Map<string, number>();

  constructor(entries: readonly Entry[]) {
    this.#entries = entries;
    for (const [index, entry] of entries.entries()) {
      if (!isEntry(entry)) continue;
      this.#claim(index, entry);
      for (const spanId of expandedSpanIds(entry)) this.#expand(spanId);
      if (typeof entry.uuid === "string") this.#places.set(entry.uuid, index);
    }
  }

  #claim(index: number, entry: Entry): void {
    if (isCollapsedSpan(entry)) this.#spans.set(entry.collapsed.spanId, index);
    const claimed: number[] = [];
    for (const uuid of standInUuids(entry)) {
      const place = this.#places.get(uuid);
      if (place === undefined || !this.#isFree(place)) continue;
      this.#owners.set(place, index);
      claimed.push(place);
    }
    if (claimed.length > 0) this.#claims.set(index, claimed);
  }

  #isFree(place: number): boolean {
    const entry = this.#entries[place];
    if (entry === undefined || !mayGiveWay(entry)) return false;
    return !this.#owners.has(place) && !this.#gone.has(place);
  }

  /** One that stands for nothing here would only vanish. */
  #expand(spanId: string): void {
    const span = this.#spans.get(spanId);
    const claims = span === undefined ? undefined : this.#claims.get(span);
    if (span === undefined || claims === undefined || !this.#isFree(span)) return;
    for (const place of claims) this.#owners.delete(place);
    this.#claims.delete(span);
    this.#gone.add(span);
  }

  shown(): readonly Entry[] {
    const roots: number[] = this.#entries.map((_, index) => index);
    for (let index = roots.length - 1; index >= 0; index--) {
      const owner = this.#owners.get(index);
      if (owner !== undefined) roots[index] = roots[owner] ?? owner;
    }
    const isPlaced = new Set<number>();
    const shown: Entry[] = [];
    for (const root of roots) {
      if (isPlaced.has(root) || this.#gone.has(root)) continue;
      isPlaced.add(root);
      shown.push(this.#entries[root] as Entry);
    }
    return shown;
  }
}
