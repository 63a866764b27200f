import {
  type ApiMessage,
  type CacheControl,
  type ContentBlock,
  contentBlocks,
  isBlock,
  tagOf,
} from "../messages/message.ts";
import { asList, field, isRecord, type JsonRecord, listField } from "../messages/untrusted.ts";
import { MAX_CACHE_MARKS } from "../request/check/limits.ts";
import { mapContent, withBlocks } from "./map-blocks.ts";
import type { ModelRequest } from "./port.ts";

export interface CacheMarkOptions {
  /**
   * Cache lifetime of the new marks, 5 minutes by default. Existing marks may force the other lifetime, see
   * `markFor`.
   */
  readonly ttl?: "5m" | "1h";
}

interface FoundMark {
  readonly ttl: "5m" | "1h";
  /** Position in the prefix: tools, then system, then messages, including blocks inside tool results. */
  readonly place: Place;
}

/**
 * Position as four numbers: the section (0 tools, 1 system, 2 messages), the index in the section, the block,
 * and the block inside a tool result.
 */
type Place = readonly [section: number, index: number, block: number, inner: number];

/** A position that may get a mark, and a function that puts the mark there. */
interface MarkPosition {
  readonly place: Place;
  mark(request: ModelRequest, mark: CacheControl): ModelRequest;
}

/**
 * Adds cache marks for the prefixes that the next call will read:
 * - the end of the conversation
 * - the end of the system prompt
 * - the end of the previous request, because a turn with many blocks can push it out of the range that the
 *   cache searches
 * - the end of the tools
 *
 * Existing marks stay and count toward the limit. If they leave no room for a new mark in the messages, the
 * oldest existing mark there is removed, because later marks cover its prefix. You can therefore append to a
 * marked request and mark it again.
 */
export function withCacheMarks(request: ModelRequest, options: CacheMarkOptions = {}): ModelRequest {
  const wanted = spots(request);
  const ttl = options.ttl ?? "5m";
  let marked = request;
  for (const spot of wanted) {
    if (findMarks(marked).some(({ place }) => isSamePlace(place, spot.place))) continue;
    const roomy = hasRoom(marked) ? marked : withoutOldest(marked, spot, wanted, ttl);
    if (roomy !== undefined) marked = spot.mark(roomy, markFor(spot.place, findMarks(roomy), ttl));
  }
  return marked;
}

/**
 * Puts a single mark at the end of the first `messages` messages. The call then reads the prefix that the
 * last call wrote, and writes nothing, because a cache hit is not written again. The mark has the lifetime of
 * the marks that it replaces. Adds no mark if `messages` is 0 or exceeds the number of messages in the
 * request.
 */
export function withReadMarkOnly(request: ModelRequest, messages: number): ModelRequest {
  const ttl = findMarks(request).at(-1)?.ttl ?? ttlOf(request.cache_control);
  const bare = withoutMarks(request);
  if (messages < 1 || messages > bare.messages.length) return bare;
  return messageSpot(bare.messages, messages - 1)?.mark(bare, controlFor(ttl)) ?? bare;
}

const hasRoom = (request: ModelRequest): boolean =>
  findMarks(request).length + (request.cache_control ? 1 : 0) < MAX_CACHE_MARKS;

/**
 * Removes the oldest mark that is not needed, to make room for a mark at this position. Returns undefined if
 * no mark can be removed.
 */
function withoutOldest(
  request: ModelRequest,
  spot: MarkPosition,
  wanted: readonly MarkPosition[],
  ttl: FoundMark["ttl"],
): ModelRequest | undefined {
  if (!isInMessages(spot.place)) return undefined;
  const oldest = findMarks(request).find(
    (mark) =>
      isInMessages(mark.place) &&
      mark.ttl === ttl &&
      !wanted.some(({ place }) => isSamePlace(place, mark.place)),
  );
  return oldest && withoutMarkAt(request, oldest.place);
}

const isInMessages = ([section]: Place): boolean => section === 2;

/**
 * Creates the mark for a position. Longer lifetimes must come first in the prefix, so a mark between existing
 * marks gets the lifetime that they allow.
 */
function markFor(place: Place, existing: ReturnType<typeof findMarks>, wanted: "5m" | "1h"): CacheControl {
  const longAfter = existing.some((mark) => mark.ttl === "1h" && isBefore(place, mark.place));
  const shortBefore = existing.some((mark) => mark.ttl === "5m" && isBefore(mark.place, place));
  const ttl = longAfter ? "1h" : shortBefore ? "5m" : wanted;
  return controlFor(ttl);
}

const controlFor = (ttl: FoundMark["ttl"]): CacheControl =>
  ttl === "1h" ? { type: "ephemeral", ttl } : { type: "ephemeral" };

/** Lists positions for marks, the most valuable first. */
function spots(request: ModelRequest): readonly MarkPosition[] {
  const { messages } = request;
  const previousEnd = messages.findLastIndex(({ role }) => role === "assistant") - 1;
  // The request's automatic mark already covers the end.
  const end = request.cache_control ? undefined : messageSpot(messages, messages.length - 1);
  return [end, systemSpot(request), messageSpot(messages, previousEnd), toolSpot(request)].filter(
    (spot) => spot !== undefined,
  );
}

function messageSpot(messages: readonly ApiMessage[], from: number): MarkPosition | undefined {
  for (let index = from; index >= 0; index -= 1) {
    const blocks = contentBlocks(messages[index]?.content ?? []);
    const at = blocks.findLastIndex(canBeMarked);
    const block = blocks[at];
    if (block === undefined) continue;
    return {
      place: [2, index, at, innerCount(block)],
      mark: (request, mark) => ({
        ...request,
        messages: changedAt(request.messages, index, (message) => ({
          ...message,
          content: changedAt(contentBlocks(message.content), at, marked(mark)),
        })),
      }),
    };
  }
  return undefined;
}

function systemSpot({ system }: ModelRequest): MarkPosition | undefined {
  const blocks = contentBlocks(system ?? []);
  const at = blocks.findLastIndex(canBeMarked);
  if (at < 0) return undefined;
  return {
    place: [1, at, 0, 0],
    mark: (request, mark) => ({ ...request, system: changedAt(blocks, at, marked(mark)) }),
  };
}

/** Finds the last tool of the cached prefix. A tool with deferred loading is not part of the prefix. */
function toolSpot({ tools = [] }: ModelRequest): MarkPosition | undefined {
  const at = tools.findLastIndex((tool) => tool.defer_loading !== true);
  if (at < 0) return undefined;
  return {
    place: [0, at, 0, 0],
    mark: (request, mark) => ({ ...request, tools: changedAt(tools, at, marked(mark)) }),
  };
}

function canBeMarked(block: ContentBlock): boolean {
  switch (block.type) {
    case "text":
      return block.text.trim() !== "";
    case "tool_use":
    case "tool_result":
    case "image":
    case "document":
      return true;
    default:
      return tagOf(block) === "compaction";
  }
}

const changedAt = <T>(list: readonly T[], at: number, change: (item: T) => T): readonly T[] =>
  list.map((item, index) => (index === at ? change(item) : item));

const marked =
  (mark: CacheControl) =>
  <T extends object>(value: T): T => ({ ...value, cache_control: mark });

const innerCount = (block: ContentBlock): number =>
  block.type === "tool_result" && Array.isArray(block.content) ? block.content.length : 0;

const isSamePlace = (one: Place, other: Place): boolean => !isBefore(one, other) && !isBefore(other, one);

export function findMarks(request: ModelRequest): readonly FoundMark[] {
  const found: FoundMark[] = [];
  const look = (value: unknown, place: Place): void => {
    const mark = field(value, "cache_control");
    if (isRecord(mark)) found.push({ ttl: ttlOf(mark), place });
  };
  for (const [index, tool] of (request.tools ?? []).entries()) look(tool, [0, index, 0, 0]);
  for (const [index, block] of asList(request.system).entries()) look(block, [1, index, 0, 0]);
  for (const [index, message] of request.messages.entries()) {
    for (const [blockIndex, block] of listField(message, "content").entries()) {
      // A tool result's own mark comes after the marks of its blocks.
      const inner = listField(block, "content");
      for (const [innerIndex, item] of inner.entries()) look(item, [2, index, blockIndex, innerIndex]);
      look(block, [2, index, blockIndex, inner.length]);
    }
  }
  return found;
}

const ttlOf = (mark: unknown): FoundMark["ttl"] => (field(mark, "ttl") === "1h" ? "1h" : "5m");

export function isBefore(one: Place, other: Place): boolean {
  for (const [level, step] of one.entries()) if (step !== other[level]) return step < (other[level] ?? 0);
  return false;
}

/** Removes the one mark at a position in the messages. */
function withoutMarkAt(request: ModelRequest, [, index, at, inner]: Place): ModelRequest {
  const withoutOne = (block: ContentBlock): ContentBlock => {
    const nested = listField(block, "content");
    if (inner >= nested.length) return unmarked(block);
    const content = changedAt(nested, inner, (item) => (isBlock(item) ? unmarked(item) : item));
    return { ...block, content } as ContentBlock;
  };
  const messages = changedAt(request.messages, index, (message) =>
    Array.isArray(message.content)
      ? { ...message, content: changedAt(message.content, at, withoutOne) }
      : message,
  );
  return { ...request, messages };
}

/** Removes all marks, for servers that refuse them. Returns the same object if there are none. */
export function withoutMarks(request: ModelRequest): ModelRequest {
  if (findMarks(request).length === 0 && request.cache_control === undefined) return request;
  const { cache_control: _, ...rest } = withBlocks(request, unmarked);
  return {
    ...rest,
    ...(request.tools === undefined ? {} : { tools: request.tools.map(unmarked) }),
    ...(request.system === undefined ? {} : { system: mapContent(request.system, unmarked) }),
  };
}

function unmarked<T extends object>(value: T): T {
  if (!("cache_control" in value)) return value;
  const { cache_control: _, ...rest } = value as T & JsonRecord;
  return rest as unknown as T;
}
