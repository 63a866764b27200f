import { requireReadable } from "../conversation/given-messages.ts";
import { isRecord, type JsonRecord } from "../conversation/untrusted.ts";
import {
  contentCopyOf,
  contentOf,
  isOutdated,
  isSameJson,
  noteContent,
  outdate,
} from "./compare-messages.ts";
import type { Message } from "./options.ts";

/** Hosts change messages that they have just made. These are compared by their whole text. */
const COMPARED_WHOLE = 8;

/** A message object as the host passed it last. */
interface Seen {
  content: unknown;
  size: number;
  /** Its content at that time, see `contentCopyOf`. */
  readonly said: unknown;
  /** Stands for the object since the host changed it. */
  readonly copy: Message | undefined;
}

/**
 * Finds messages that the host changed in place. The engine recognizes a message by its object, so a changed object
 * gets a copy that stands for it from then on, as if the host had put another message in its place.
 *
 * Each turn compares the content's object, its number of blocks and the lengths of its texts. It compares the newest
 * messages whole. An older text that was exchanged for one of the same length in the same block is not found.
 */
export class ChangedInPlace {
  readonly #seen = new WeakMap<object, Seen>();

  /** The list with copies of changed messages; the list itself if there are none. Throws for an unreadable change. */
  replaceIn(messages: readonly Message[]): readonly Message[] {
    const wholeFrom = messages.length - COMPARED_WHOLE;
    let replaced: Message[] | undefined;
    for (let index = 0; index < messages.length; index++) {
      const message = messages[index] as Message;
      if (!isRecord(message)) continue;
      const current = this.#current(message, index, index >= wholeFrom);
      if (current === message) continue;
      replaced ??= messages.slice();
      replaced[index] = current;
    }
    return replaced ?? messages;
  }

  /** The message that stands for this object. */
  standIn(message: Message): Message {
    return (isRecord(message) ? this.#seen.get(message)?.copy : undefined) ?? message;
  }

  #current(message: Message & JsonRecord, index: number, isWhole: boolean): Message {
    const content = contentOf(message);
    const size = sizeOf(content);
    const seen = this.#seen.get(message);
    if (seen !== undefined && !isWhole && seen.content === content && seen.size === size)
      return seen.copy ?? message;
    const said = contentCopyOf(content);
    if (seen === undefined) {
      // Another conversation knows the object with other content.
      const copy = isOutdated(message) ? copyOf(message, index) : undefined;
      this.#note(message, { content, size, said, copy });
      return copy ?? message;
    }
    if (isSameJson(seen.said, said)) {
      // The host may have made the content anew.
      seen.content = content;
      seen.size = size;
      return seen.copy ?? message;
    }
    const copy = copyOf(message, index);
    outdate(seen.copy ?? message);
    this.#note(message, { content, size, said, copy });
    return copy;
  }

  #note(message: Message, seen: Seen): void {
    this.#seen.set(message as object, seen);
    noteContent(message as object, seen.said);
    if (seen.copy === undefined) return;
    this.#seen.set(seen.copy as object, { ...seen, content: contentOf(seen.copy), copy: undefined });
  }
}

/** A number that changes with the number of blocks and with the lengths of their texts. */
function sizeOf(content: unknown): number {
  if (typeof content === "string") return content.length;
  if (!Array.isArray(content)) return -1;
  let size = content.length;
  for (let at = 0; at < content.length; at++) size = (size * 31 + blockSize(content[at])) % 0x1f_ffff_ffff;
  return size;
}

function blockSize(block: unknown): number {
  if (!isRecord(block)) return 0;
  const { text, thinking, content } = block;
  let size = 1;
  if (typeof text === "string") size += text.length;
  if (typeof thinking === "string") size += thinking.length;
  return content === undefined ? size : size * 31 + sizeOf(content);
}

/** Shares no content with the object, which the host may change again. */
function copyOf(message: Message & JsonRecord, index: number): Message {
  requireReadable(message, index);
  const inner = message.message;
  const content: unknown = structuredCopy(contentOf(message));
  const copy = isRecord(inner) ? { ...message, message: { ...inner, content } } : { ...message, content };
  return copy as unknown as Message;
}

const structuredCopy = (content: unknown): unknown =>
  content === undefined ? undefined : (JSON.parse(JSON.stringify(content)) as unknown);
