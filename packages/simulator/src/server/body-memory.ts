import { isUtf8 } from "node:buffer";
import {
  isNestedTooDeep,
  isRecord,
  type JsonRecord,
  MAX_NESTED_LEVELS,
} from "@longhaul/core/internal/messages";
import { parseBody, textOf } from "./body.ts";

/** A body of an earlier request, with the byte positions of its messages. */
interface KnownBody {
  readonly content: Buffer;
  readonly messages: readonly unknown[];
  readonly place: MessageBytes;
}

/**
 * Maximum number of remembered bodies. Each conversation needs one body. Several conversations may run in
 * parallel, such as those of an agent and its subagents.
 */
const MAX_BODIES = 8;
const MAX_BYTES = 64_000_000;

/** Nesting levels above the list of messages. The only level is the body itself. */
const LEVELS_ABOVE_LIST = 1;

/**
 * Memory of parsed bodies. A client sends the whole conversation again with each turn. Messages whose bytes
 * equal those of an earlier body are not parsed again, so a turn costs only its new part. These messages are
 * the same objects as in the earlier body, which also keeps the log of a long run small.
 */
export class BodyMemory {
  readonly #limitBytes: number;
  #bodies: readonly KnownBody[] = [];

  /** `limitBytes`: maximum total size of all remembered bodies. */
  constructor(limitBytes: number = MAX_BYTES) {
    this.#limitBytes = limitBytes;
  }

  /** Parses a body like `parseBody`, with the same results and errors. */
  parse(content: Buffer): JsonRecord {
    const known = this.#longestShared(content);
    const continued = known && continueBody(content, known.body, known.count);
    if (continued !== undefined) {
      const isContained = known?.count === known?.body.messages.length;
      this.#remember(continued, isContained ? known?.body : undefined);
      return continued.parsed;
    }
    const parsed = parseBody(content);
    const place = Array.isArray(parsed.messages) ? findMessages(content) : undefined;
    if (place !== undefined && place.ends.length === (parsed.messages as unknown[]).length) {
      this.#remember({ content, messages: parsed.messages as unknown[], place });
    }
    return parsed;
  }

  #longestShared(content: Buffer): { readonly body: KnownBody; readonly count: number } | undefined {
    let best: { body: KnownBody; count: number } | undefined;
    for (const body of this.#bodies) {
      const shared = sharedBytes(content, body.content);
      const count = messagesWithin(body.place, shared);
      if (count > (best?.count ?? 0)) best = { body, count };
    }
    return best;
  }

  #remember({ content, messages, place }: KnownBody, replaced?: KnownBody): void {
    const kept: KnownBody[] = [{ content, messages, place }];
    let bytes = content.length;
    for (const other of this.#bodies) {
      if (other === replaced) continue;
      bytes += other.content.length;
      if (kept.length === MAX_BODIES || bytes > this.#limitBytes) break;
      kept.push(other);
    }
    this.#bodies = kept;
  }
}

/** Returns the number of equal bytes at the start of two bodies. */
const sharedBytes = (one: Buffer, other: Buffer): number =>
  most(Math.min(one.length, other.length), (from, to) => one.compare(other, from, to, from, to) === 0);

const messagesWithin = ({ ends }: MessageBytes, bytes: number): number =>
  most(ends.length, (_, count) => (ends[count - 1] ?? 0) <= bytes);

/**
 * Finds the largest number up to `high` for which the condition is true, by binary search. The condition gets
 * `known`, a number for which it is known to be true.
 */
function most(high: number, holds: (known: number, number: number) => boolean): number {
  let low = 0;
  let top = high;
  while (low < top) {
    const middle = (low + top + 1) >>> 1;
    if (holds(low, middle)) low = middle;
    else top = middle - 1;
  }
  return low;
}

/**
 * Parses a body that begins like a known body. Returns undefined for anything unexpected. In that case, the
 * caller parses the whole body and reports its errors.
 */
function continueBody(
  content: Buffer,
  known: KnownBody,
  count: number,
): (KnownBody & { readonly parsed: JsonRecord }) | undefined {
  const { start, ends } = known.place;
  const from = ends[count - 1] ?? start;
  const added = isUtf8(content) ? scanItems(content, from) : undefined;
  if (added === undefined || mayNameMessages(content.subarray(added.close))) return undefined;
  try {
    const rest: unknown = JSON.parse(textOf(around(content, start, added.close)));
    const newMessages = itemsAfterAnItem(textOf(content.subarray(from, added.close)));
    const isExpected = isRecord(rest) && newMessages?.length === added.ends.length;
    if (
      !isExpected ||
      isNestedTooDeep(rest) ||
      isNestedTooDeep(newMessages, MAX_NESTED_LEVELS - LEVELS_ABOVE_LIST)
    )
      return undefined;
    const messages = [...known.messages.slice(0, count), ...newMessages];
    const place = { start, ends: [...ends.slice(0, count), ...added.ends], close: added.close };
    return { content, messages, place, parsed: { ...rest, messages } };
  } catch {
    return undefined;
  }
}

/**
 * Parses the list items that follow another item. Returns undefined if the text does not start with a comma.
 * In that case, the text continues the previous item (`1` became `12`), or is not JSON.
 */
function itemsAfterAnItem(text: string): readonly unknown[] | undefined {
  const items = text.replace(/^[ \n\r\t]*,/, "");
  const isSeparated = items.length < text.length || items.trim() === "";
  return isSeparated ? JSON.parse(`[${items}]`) : undefined;
}

/**
 * True if the key `messages` may occur again after the list of messages, even in escaped form. In JSON, the
 * last occurrence of a key counts.
 */
const mayNameMessages = (bytes: Buffer): boolean => bytes.includes('"messages"') || bytes.includes("\\u");

/** Returns the body with an empty list of messages. */
const around = (content: Buffer, start: number, close: number): Buffer =>
  Buffer.concat([content.subarray(0, start), content.subarray(close)]);

/** Byte positions of the messages in a body. */
interface MessageBytes {
  /** Position after the opening bracket of the list. */
  readonly start: number;
  /** Position after each message. */
  readonly ends: readonly number[];
  /** Position of the closing bracket of the list. */
  readonly close: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const KEY = Buffer.from('"messages"');

/**
 * Finds the list of messages in a body that is valid JSON. Returns undefined if there is no list, if the key
 * `messages` occurs twice, or if an escaped key could be the same key.
 */
function findMessages(content: Buffer): MessageBytes | undefined {
  let found: MessageBytes | undefined;
  let at = skipBlanks(content, 0);
  if (content[at] !== OPEN_BRACE) return undefined;
  at = skipBlanks(content, at + 1);
  while (content[at] === QUOTE) {
    const keyEnd = skipString(content, at);
    const key = content.subarray(at, keyEnd);
    if (key.includes(BACKSLASH)) return undefined;
    at = skipBlanks(content, keyEnd);
    if (content[at] !== COLON) return undefined;
    at = skipBlanks(content, at + 1);
    if (key.equals(KEY)) {
      if (found !== undefined || content[at] !== OPEN_BRACKET) return undefined;
      const items = scanItems(content, at + 1);
      if (items === undefined) return undefined;
      found = { start: at + 1, ...items };
    }
    at = skipBlanks(
      content,
      found !== undefined && at < found.close ? found.close + 1 : skipValue(content, at),
    );
    if (content[at] !== COMMA) break;
    at = skipBlanks(content, at + 1);
  }
  return found;
}

/**
 * Scans the items of a list, from a position after the opening bracket or after an item. Returns undefined if
 * the list never closes.
 */
function scanItems(content: Buffer, from: number): Pick<MessageBytes, "ends" | "close"> | undefined {
  const ends: number[] = [];
  let at = skipBlanks(content, from);
  while (at < content.length && content[at] !== CLOSE_BRACKET) {
    if (content[at] === COMMA) at = skipBlanks(content, at + 1);
    const end = skipValue(content, at);
    if (end <= at || end > content.length) return undefined;
    ends.push(end);
    at = skipBlanks(content, end);
  }
  return at < content.length ? { ends, close: at } : undefined;
}

function skipBlanks(content: Buffer, from: number): number {
  let at = from;
  while (isBlank(content[at])) at++;
  return at;
}

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Returns the position after the value that starts here, or the end of the body if the value never ends. */
function skipValue(content: Buffer, from: number): number {
  const first = content[from];
  if (first === QUOTE) return skipString(content, from);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(content, from);
  let at = from;
  while (at < content.length && !isEndOfPlain(content[at])) at++;
  return at;
}

const isEndOfPlain = (byte: number | undefined): boolean =>
  byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE || isBlank(byte);

function skipNested(content: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  while (at < content.length) {
    const byte = content[at];
    if (byte === QUOTE) {
      at = skipString(content, at);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
    at++;
    if (depth === 0) return at;
  }
  return content.length + 1;
}

/** Skips a string. Most of a body is inside strings, so a native search finds their ends. */
function skipString(content: Buffer, from: number): number {
  for (let quote = content.indexOf(QUOTE, from + 1); quote >= 0; quote = content.indexOf(QUOTE, quote + 1)) {
    let slashes = 0;
    while (content[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return content.length + 1;
}
