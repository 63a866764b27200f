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
 * Stand-ins replace older content. A snip leaves a marker, and a collapse leaves a span with a summary. A
 * clearing leaves a fixed text in the tool result.
 */

/** Entry that replaces removed messages. It records their number and ids, so that they can be found again. */
export interface SnipMarker extends UserEntry {
  readonly snipped: SnipRecord;
}

export interface SnipRecord {
  readonly messages: number;
  readonly uuids: readonly string[];
  /**
   * True if the model binds thinking to earlier messages. In that case the thinking after the removed
   * messages was removed too.
   */
  readonly bindsThinking?: boolean;
  /**
   * True if a compaction absorbed the marker, or an edit by the host moved its line. In both cases, the file
   * no longer has the removed messages before the marker.
   */
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

/** Returns the uuids of the entries that this marker replaces. Returns an empty list for other entries. */
export function snippedUuids(entry: Entry): readonly string[] {
  return isSnipMarker(entry) ? stringListField(entry.snipped, "uuids") : [];
}

/** Entry that replaces a span of old messages with a summary. It records the ids of these messages. */
export interface CollapsedSpan extends UserEntry {
  readonly collapsed: CollapseRecord;
}

export interface CollapseRecord {
  /** Id of the span, used to expand it again. */
  readonly spanId: string;
  readonly messages: number;
  /** All replaced entries in their order: messages, and earlier spans and markers. */
  readonly uuids: readonly string[];
  /** Tokens of the replaced messages, and tokens of the summary. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /**
   * True if the model binds thinking to earlier messages. In that case the thinking after the span was
   * removed too.
   */
  readonly bindsThinking?: boolean;
  /** Tool results in the span that were already cleared. The stored messages still contain them in full. */
  readonly clearedToolUseIds?: readonly string[];
  /**
   * True if a compaction absorbed the span, or an edit by the host moved its line. In both cases, its
   * messages can be read but not restored.
   */
  readonly isSettled?: boolean;
}

/** Returns true for a span with a summary. A span without a summary replaces nothing. */
export function isCollapsedSpan(entry: Entry): entry is CollapsedSpan {
  if (!isEntry(entry) || entry.type !== "user") return false;
  const spanId = stringField(field(entry, "collapsed"), "spanId");
  return spanId !== undefined && contentText(rawContent(entry)).trim() !== "";
}

/** Returns the uuids of the entries that this span replaces. Returns an empty list for other entries. */
export function collapsedUuids(entry: Entry): readonly string[] {
  return isCollapsedSpan(entry) ? stringListField(entry.collapsed, "uuids") : [];
}

export function isCollapseMark(entry: Entry): entry is CollapseMark {
  if (!isEntry(entry) || entry.type !== "system") return false;
  return entry.subtype === "collapse_committed" || entry.subtype === "collapse_expanded";
}

/** Returns the ids of the spans whose commit this line completes. Returns an empty list for other lines. */
export function committedSpanIds(entry: Entry): readonly string[] {
  return spanIdsOf(entry, "collapse_committed");
}

/** Returns the ids of the spans that this line expands. Returns an empty list for other lines. */
export function expandedSpanIds(entry: Entry): readonly string[] {
  return spanIdsOf(entry, "collapse_expanded");
}

function spanIdsOf(entry: Entry, subtype: CollapseMark["subtype"]): readonly string[] {
  if (!isCollapseMark(entry) || entry.subtype !== subtype) return [];
  return stringListField(entry.collapse, "spanIds");
}

/**
 * Text of a cleared result. It never changes, because a new text would break the prompt cache on every turn.
 */
export const CLEARED_RESULT_TEXT = "[Old tool result content cleared]";

/**
 * Returns the ids of tool results that micro-compactions cleared. On disk the results are unchanged, and only
 * these marks record the clearing.
 */
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

/** Returns the ids of the cleared tool results in this entry. */
export function clearedResultIds(entry: Entry): readonly string[] {
  if (!isEntry(entry) || entry.type !== "user") return [];
  return entryBlocks(entry).flatMap((block) =>
    block.type === "tool_result" && isCleared(block) ? [block.tool_use_id] : [],
  );
}

/** Replaces the content of these tool results with the fixed text. Block, id and tool use stay. */
export function withClearedResults(
  entries: readonly Entry[],
  clearedToolUseIds: ReadonlySet<string>,
): readonly Entry[] {
  if (clearedToolUseIds.size === 0) return entries;
  return withClearedResultsAt(entries, entries.keys(), clearedToolUseIds);
}

/** Works like {@link withClearedResults}, but changes only the entries at these indexes. */
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

/** Returns true for a snip marker or a collapsed span. */
export function isStandIn(entry: Entry): entry is SnipMarker | CollapsedSpan {
  return isSnipMarker(entry) || isCollapsedSpan(entry);
}

/** Returns true if the messages of a stand-in can no longer be restored from it. */
export const isSettled = (entry: SnipMarker | CollapsedSpan): boolean =>
  (isSnipMarker(entry) ? entry.snipped.isSettled : entry.collapsed.isSettled) === true;

/** Returns the uuids of the entries that this stand-in replaces. */
export function standInUuids(entry: Entry): readonly string[] {
  return isSnipMarker(entry) ? snippedUuids(entry) : collapsedUuids(entry);
}

export const replacesMessage = (entry: Entry, uuid: string): boolean => standInUuids(entry).includes(uuid);

/**
 * Returns true if a stand-in may replace this entry. A compaction boundary and its summary cannot be
 * replaced, because nothing else remains of their messages.
 */
export function canBeReplaced(entry: Entry): boolean {
  return isEntry(entry) && !isCompactBoundary(entry) && !isSummaryEntry(entry);
}

/**
 * Converts a transcript to the conversation. In the transcript the messages are still in place, and their
 * stand-in is a later line. The stand-in moves to the position of its first message. The messages of an
 * expanded span replace the span again.
 *
 * Lines are processed in order, so the newest line wins. A stand-in can replace only earlier lines that no
 * other stand-in replaces yet. This rules out cycles. If a stand-in names any other line, that line stays
 * visible.
 */
export function withStandInsApplied(entries: readonly Entry[]): readonly Entry[] {
  if (!entries.some(isStandIn)) return entries;
  return new Projection(entries).shown();
}

class Projection {
  readonly #entries: readonly Entry[];
  /**
   * The key is the index of an entry, and the value is the index of the line that replaces it. That line is
   * always later.
   */
  readonly #owners = new Map<number, number>();
  readonly #claims = new Map<number, readonly number[]>();
  /** Indexes of expanded spans. */
  readonly #expanded = new Set<number>();
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
    if (entry === undefined || !canBeReplaced(entry)) return false;
    return !this.#owners.has(place) && !this.#expanded.has(place);
  }

  /**
   * Shows the messages of a span again. Ignores a span that replaces no message here, because an expansion
   * would only make the span disappear.
   */
  #expand(spanId: string): void {
    const span = this.#spans.get(spanId);
    const claims = span === undefined ? undefined : this.#claims.get(span);
    if (span === undefined || claims === undefined || !this.#isFree(span)) return;
    for (const place of claims) this.#owners.delete(place);
    this.#claims.delete(span);
    this.#expanded.add(span);
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
      if (isPlaced.has(root) || this.#expanded.has(root)) continue;
      isPlaced.add(root);
      shown.push(this.#entries[root] as Entry);
    }
    return shown;
  }
}
