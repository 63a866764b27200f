import { isUtf8 } from "node:buffer";
import { isRecord, type JsonRecord } from "../../../conversation/untrusted.ts";
import { isTooDeep, parseBody, textOf } from "./body.ts";
import { findMessages, type MessageBytes, scanItems } from "./message-bytes.ts";

/** A body of an earlier request, and where its messages stand in it. */
interface KnownBody {
  readonly content: Buffer;
  readonly messages: readonly unknown[];
  readonly place: MessageBytes;
}

/** Conversations that go on side by side: a parent with its subagents. */
const MAX_BODIES = 8;
const MAX_BYTES = 64_000_000;

/** What the list of messages stands in: the body. */
const LEVELS_ABOVE_LIST = 1;

/**
 * A conversation sends everything again with each turn. What stands in the bytes as it stood in an earlier
 * body is not parsed again: a turn costs what is new. The messages are then the very objects of that body,
 * which also keeps the log of a long run small.
 */
export class BodyMemory {
  #bodies: readonly KnownBody[] = [];

  /** As `parseBody`, in all it gives and refuses. */
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
      bytes += other.content.length;
      if (kept.length === MAX_BODIES || bytes > MAX_BYTES) break;
      if (other !== replaced) kept.push(other);
    }
    this.#bodies = kept;
  }
}

/** How many bytes at their beginning two bodies have in common. */
function sharedBytes(one: Buffer, other: Buffer): number {
  let low = 0;
  let high = Math.min(one.length, other.length);
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (one.compare(other, low, middle, low, middle) === 0) low = middle;
    else high = middle - 1;
  }
  return low;
}

function messagesWithin({ ends }: MessageBytes, bytes: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((ends[middle - 1] ?? 0) <= bytes) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Undefined where something is not as expected: then the whole is parsed, and what is wrong with it said. */
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
    if (!isExpected || isTooDeep(rest) || isTooDeep(newMessages, LEVELS_ABOVE_LIST)) return undefined;
    const messages = [...known.messages.slice(0, count), ...newMessages];
    const place = { start, ends: [...ends.slice(0, count), ...added.ends], close: added.close };
    return { content, messages, place, parsed: { ...rest, messages } };
  } catch {
    return undefined;
  }
}

/** Without a comma, what follows belongs to the item before (`1` that became `12`) or is no JSON at all. */
function itemsAfterAnItem(text: string): readonly unknown[] | undefined {
  const items = text.replace(/^[ \n\r\t]*,/, "");
  const isSeparated = items.length < text.length || items.trim() === "";
  return isSeparated ? JSON.parse(`[${items}]`) : undefined;
}

/** Behind the list the key may come again, and the last one counts; or in disguise. */
const mayNameMessages = (bytes: Buffer): boolean => bytes.includes('"messages"') || bytes.includes("\\u");

/** The body with nothing in the list. */
const around = (content: Buffer, start: number, close: number): Buffer =>
  Buffer.concat([content.subarray(0, start), content.subarray(close)]);
