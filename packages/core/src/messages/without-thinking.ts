import {
  type CompactBoundaryEntry,
  type Entry,
  entryBlocks,
  isEntry,
  isMicrocompactBoundary,
  rawContent,
  responseIdOf,
} from "./entry.ts";
import { isBlock, isThinking, type MessageContent, mapChanged } from "./message.ts";
import { expandedSpanIds, isCollapsedSpan, isSnipMarker, snippedUuids, standInUuids } from "./stand-ins.ts";
import { field, stringListField } from "./untrusted.ts";

interface WithoutThinking {
  /** The same list if there was nothing to remove. */
  readonly entries: readonly Entry[];
  /** Number of thinking blocks that were removed. */
  readonly blocks: number;
}

/**
 * Removes the thinking of every response that starts at `index` or later. If a model binds thinking to the
 * exact history before it, a change at `index` makes that thinking invalid. All entries of a response are
 * sent as one message at the position of the first entry. The removed thinking is therefore the last part of
 * all thinking that is sent, and earlier thinking does not depend on it. An entry that contains only thinking
 * stays as an empty entry, so that indexes and links remain valid. It is not sent.
 */
export function withoutThinkingFrom(entries: readonly Entry[], index: number): WithoutThinking {
  const from = Math.max(0, Math.trunc(index) || 0);
  const left = withoutThinkingIn(entries, [{ from, to: entries.length }]);
  let blocks = 0;
  for (const [at, entry] of left.entries()) {
    const before = entries[at];
    if (entry !== before) blocks += blocksOf(before).length - blocksOf(entry).length;
  }
  return { entries: left, blocks };
}

const blocksOf = (entry: Entry | undefined): readonly unknown[] =>
  entry?.type === "assistant" ? entryBlocks(entry) : [];

/** Entries before `to` whose response starts at `from` or later. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Works like {@link withoutThinkingFrom}, but for several spans. Thinking after the end of a span stays,
 * because it was written with the changed history.
 */
export function withoutThinkingIn(entries: readonly Entry[], spans: readonly Span[]): readonly Entry[] {
  const bounds = earliestStarts(entries.length, spans);
  const begins = new Map<string, number>();
  return mapChanged(entries, (entry, at) => {
    if (!isEntry(entry) || entry.type !== "assistant") return entry;
    const responseId = responseIdOf(entry);
    const begin = (responseId === undefined ? undefined : begins.get(responseId)) ?? at;
    if (responseId !== undefined) begins.set(responseId, begin);
    if (begin < (bounds[at] ?? at + 1)) return entry;
    const given = rawContent(entry) as MessageContent;
    const content = contentWithoutThinking(given);
    return content === given ? entry : { ...entry, message: { ...entry.message, content } };
  });
}

/** Returns one start for each index. It is the earliest start of all spans that end after that index. */
function earliestStarts(length: number, spans: readonly Span[]): readonly number[] {
  const starts = new Array<number>(length).fill(Number.POSITIVE_INFINITY);
  for (const { from, to } of spans) {
    const last = Math.min(to, length) - 1;
    if (last >= 0) starts[last] = Math.min(starts[last] ?? from, from);
  }
  for (let at = length - 2; at >= 0; at--) starts[at] = Math.min(starts[at] ?? 0, starts[at + 1] ?? 0);
  return starts;
}

/** Removes thinking blocks. Returns the same content if there are none. */
export function contentWithoutThinking(content: MessageContent): MessageContent {
  if (!Array.isArray(content) || !content.some(isThinkingBlock)) return content;
  return content.filter((block) => !isThinkingBlock(block));
}

const isThinkingBlock = (block: unknown): boolean => isBlock(block) && isThinking(block);

/**
 * Removes the thinking that the model would now refuse. On disk, a compaction, clearing, snip or collapse
 * adds only a mark. Lines between the change and its mark still have thinking that is bound to the old
 * history. Lines after the mark were written with the new history.
 */
export function withoutRefusedThinking(
  entries: readonly Entry[],
  boundary: CompactBoundaryEntry | undefined,
): readonly Entry[] {
  const spans = [...keptSpan(entries, boundary), ...markedSpans(entries)];
  return spans.length === 0 ? entries : withoutThinkingIn(entries, spans);
}

function keptSpan(entries: readonly Entry[], boundary: CompactBoundaryEntry | undefined): readonly Span[] {
  const upTo = boundary?.compactMetadata?.longhaul?.withoutThinkingUpTo;
  const end = upTo === undefined ? -1 : entries.findIndex((entry) => isEntry(entry) && entry.uuid === upTo);
  return end === -1 ? [] : [{ from: 0, to: end + 1 }];
}

function markedSpans(entries: readonly Entry[]): readonly Span[] {
  const marks: { readonly changed: readonly string[]; readonly to: number }[] = [];
  for (const [to, entry] of entries.entries()) {
    if (!isEntry(entry)) continue;
    const changed = changedIdsOf(entry);
    if (changed.length > 0) marks.push({ changed, to });
  }
  if (marks.length === 0) return [];
  const places = placesOf(entries);
  return marks.map(({ changed, to }) => {
    let from = to;
    // If a message is missing here, it came before all remaining messages, so its index counts as 0.
    for (const id of changed) from = Math.min(from, places.get(id) ?? 0);
    return { from, to };
  });
}

/**
 * Returns the ids of the tool calls, messages or spans that a mark lists as changed. Returns an empty list if
 * the model does not bind its thinking.
 */
function changedIdsOf(entry: Entry): readonly string[] {
  if (isSnipMarker(entry)) return entry.snipped.bindsThinking === true ? snippedUuids(entry) : [];
  // Use the position of the span itself, because not all lines that the span covers are loaded.
  if (isCollapsedSpan(entry)) return entry.collapsed.bindsThinking === true ? [entry.uuid] : [];
  if (field(field(entry, "collapse"), "bindsThinking") === true) return expandedSpanIds(entry);
  if (!isMicrocompactBoundary(entry)) return [];
  const { microcompactMetadata } = entry;
  if (field(field(microcompactMetadata, "longhaul"), "bindsThinking") !== true) return [];
  return stringListField(microcompactMetadata, "compactedToolIds");
}

/**
 * Returns the first index whose thinking a change affects. The key is the id of a message, span or tool call.
 * For a message or a span, the value is its position. For a tool call, the value is the index after the first
 * entry of its response.
 */
function placesOf(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const begins = new Map<string, number>();
  for (const [at, entry] of entries.entries()) {
    if (!isEntry(entry)) continue;
    const place = placeOf(entry, at, places);
    if (typeof entry.uuid === "string") places.set(entry.uuid, place);
    if (isCollapsedSpan(entry)) places.set(entry.collapsed.spanId, place);
    if (entry.type !== "assistant") continue;
    const responseId = responseIdOf(entry);
    const begin = (responseId === undefined ? undefined : begins.get(responseId)) ?? at;
    if (responseId !== undefined) begins.set(responseId, begin);
    for (const block of entryBlocks(entry)) {
      if (block.type !== "tool_use" || typeof block.id !== "string") continue;
      places.set(block.id, Math.min(places.get(block.id) ?? begin + 1, begin + 1));
    }
  }
  return places;
}

/** Returns the position of an entry. A stand-in has the position of its first replaced entry. */
function placeOf(entry: Entry, at: number, places: ReadonlyMap<string, number>): number {
  let place = at;
  for (const uuid of standInUuids(entry)) place = Math.min(place, places.get(uuid) ?? at);
  return place;
}
