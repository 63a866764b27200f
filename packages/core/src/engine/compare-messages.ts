import { withoutLineFields } from "../messages/entry.ts";
import { type ApiMessage, type ContentBlock, contentBlocks } from "../messages/message.ts";
import { requireReadable } from "../messages/require-messages.ts";
import { isRecord, type JsonRecord } from "../messages/untrusted.ts";
import type { Message } from "./options.ts";

/** Returns true if both values have the same JSON text. As in a provider's cache, the field order matters. */
export function isSameJson(before: unknown, after: unknown): boolean {
  const isSame = compareValues(before, after);
  if (isSame !== undefined) return isSame;
  const json = jsonOf(before);
  return json !== undefined && json === jsonOf(after);
}

/**
 * Compares two values without serializing them, which is much faster. Returns undefined if only their JSON
 * text can decide.
 */
function compareValues(before: unknown, after: unknown): boolean | undefined {
  try {
    return hasSameParts(before, after);
  } catch {
    // The value is nested too deeply or circular, or a getter threw.
    return undefined;
  }
}

function hasSameParts(before: unknown, after: unknown): boolean | undefined {
  if (before === after) return true;
  if (typeof before === "string" && typeof after === "string") return false;
  if (!isObject(before) || !isObject(after)) return undefined;
  if (hasOwnJson(before) || hasOwnJson(after) || Array.isArray(before) !== Array.isArray(after))
    return undefined;
  if (Array.isArray(before) && before.length !== after.length) return false;
  const names = Object.keys(before);
  const others = Object.keys(after);
  if (names.length !== others.length) return undefined;
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string;
    if (name !== others[at]) return undefined;
    const isSame = hasSameParts(before[name], after[name]);
    if (isSame !== true) return isSame;
  }
  return true;
}

const hasOwnJson = (value: Readonly<Record<string, unknown>>): boolean => typeof value.toJSON === "function";

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/**
 * Copies a value as JSON would, without fields named `omittedField`. Returns undefined for a value without a
 * JSON form. The copy contains the same strings as the value. So copying is cheap, and comparing two copies
 * of one object reads no text.
 */
export function jsonCopy(value: unknown, omittedField?: string): unknown {
  try {
    return copyValue(value, omittedField);
  } catch {
    return undefined;
  }
}

function copyValue(value: unknown, omittedField: string | undefined): unknown {
  if (!isObject(value)) return typeof value === "function" || typeof value === "symbol" ? undefined : value;
  if (hasOwnJson(value)) return copyValue(JSON.parse(JSON.stringify(value)), omittedField);
  if (Array.isArray(value)) return value.map((item: unknown) => copyValue(item, omittedField) ?? null);
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const part = name === omittedField ? undefined : copyValue(value[name], omittedField);
    if (part === undefined) continue;
    if (name === "__proto__") Object.defineProperty(copy, name, { value: part, enumerable: true });
    else copy[name] = part;
  }
  return copy;
}

export function jsonOf(
  value: unknown,
  replacer?: (key: string, value: unknown) => unknown,
): string | undefined {
  try {
    return JSON.stringify(value, replacer);
  } catch {
    // The value has no JSON form, so it was never sent.
    return undefined;
  }
}

const digests = new WeakMap<object, number>();
/** Copies of the contents as the host first passed them, see `contentCopyOf`. */
const contents = new WeakMap<object, unknown>();
const blockDigests = new WeakMap<object, readonly number[]>();
const coreDigests = new WeakMap<object, readonly number[]>();
const outdated = new WeakSet<object>();
let unreadable = 0;

/** Marks an object that the host changed, so that it no longer matches the known message. */
export const markOutdated = (message: Message): void => void outdated.add(message as object);

/** Returns true if the host changed the object after the first turn that read it. */
export function isOutdated(message: object): boolean {
  if (outdated.has(message)) return true;
  return contents.has(message) && !isSameJson(contents.get(message), contentCopyOf(contentOf(message)));
}

/** Returns the content of a message, or of an entry's message. */
const contentOf = (message: unknown): unknown => {
  if (!isRecord(message)) return undefined;
  return isRecord(message.message) ? message.message.content : message.content;
};

/**
 * Copies the content but shares its strings. The copy has no cache marks, and it has a text block in place of
 * a string. Otherwise a moved cache mark would look like a change, because a mark turns a string into a text
 * block.
 */
const contentCopyOf = (content: unknown): unknown =>
  jsonCopy(typeof content === "string" ? [{ type: "text", text: content }] : content, "cache_control");

/** Copies the digests of a known object to a message with the same content. */
export function adoptDigests(message: object, known: object): void {
  for (const map of [digests, blockDigests, coreDigests] as readonly WeakMap<object, unknown>[]) {
    const digest = map.has(message) ? undefined : map.get(known);
    if (digest !== undefined) map.set(message, digest);
  }
}

/**
 * Returns a hash of a message's text. Equal messages have equal digests, even if they are different objects.
 * The engine keeps digests of old messages instead of the messages. It computes the digest of each object
 * only once. Therefore, if the host changes an object later, the engine uses a copy in place of that object.
 */
export function digestOf(message: Message): number {
  if (typeof message !== "object" || message === null) return hash(String(message));
  const known = digests.get(message);
  if (known !== undefined) return known;
  const json = isOutdated(message) ? undefined : jsonOf(withoutLineFields(message));
  // A message without a JSON form, or a message that the host changed, equals no other message.
  const digest = json === undefined ? -++unreadable : hash(json);
  digests.set(message, digest);
  return digest;
}

/**
 * Returns one digest for each block, computed from the role and the block. If a host splits a list
 * differently, the blocks and their order stay the same. An entry counts as one block.
 */
export const blockDigestsOf = (message: Message): readonly number[] =>
  digestsOfBlocks(message, blockDigests, ({ content }) => contentBlocks(content).map(canonicalJson));

/**
 * Returns the block digests without the parts that hosts change from turn to turn: cache marks, reminders,
 * field order. These digests show whether a list is the original of a rewritten list.
 */
export const coreDigestsOf = (message: Message): readonly number[] =>
  digestsOfBlocks(message, coreDigests, (plain) =>
    coreBlocksOf(plain).map((block) => jsonOf(plainBlock(block), sorted)),
  );

function digestsOfBlocks(
  message: Message,
  digestsBefore: WeakMap<object, readonly number[]>,
  write: (message: ApiMessage) => readonly (string | undefined)[],
): readonly number[] {
  if (!isPlainMessage(message)) return [digestOf(message)];
  const known = digestsBefore.get(message);
  if (known !== undefined) return known;
  const own = isOutdated(message)
    ? [-++unreadable]
    : write(message).map((json) => hash(`${message.role} ${json}`));
  digestsBefore.set(message, own);
  return own;
}

/** Returns the number of digests that {@link coreDigestsOf} returns. */
export const coreCountOf = (message: Message): number =>
  isPlainMessage(message) ? coreBlocksOf(message).length : 1;

/** Returns the blocks without reminders. A message that has only reminders keeps them. */
function coreBlocksOf({ content }: ApiMessage): readonly ContentBlock[] {
  const blocks = contentBlocks(content);
  const others = blocks.filter((block) => !isReminder(block));
  return others.length === 0 ? blocks : others;
}

/**
 * Returns true for a text block inside the tag `system-reminder`. Agents use this tag for text that they add
 * for one turn.
 */
function isReminder(block: unknown): boolean {
  const text = isRecord(block) && typeof block.text === "string" ? block.text.trim() : "";
  return text.startsWith("<system-reminder>") && text.endsWith("</system-reminder>");
}

/** Returns true for a plain message. Entries have a type and an id. */
export const isPlainMessage = (message: unknown): message is ApiMessage =>
  isRecord(message) && typeof message.role === "string" && message.uuid === undefined;

/**
 * Serializes a block in one canonical form. Converters change the field order, and they write a tool result
 * that has only one text as a string.
 */
function canonicalJson(block: unknown): string | undefined {
  return jsonOf(isRecord(block) ? Object.fromEntries(fieldsOf(block)) : block);
}

const fieldsOf = (block: JsonRecord): readonly (readonly [string, unknown])[] =>
  Object.entries(block)
    .filter(([name, value]) => name !== "is_error" || value !== false)
    .map(([name, value]) => [name, name === "content" ? resultText(value) : value] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));

const plainBlock = (block: unknown): unknown =>
  isRecord(block) ? Object.fromEntries(fieldsOf(block).filter(([name]) => name !== "cache_control")) : block;

const sorted = (_: string, value: unknown): unknown =>
  isRecord(value) && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;

function resultText(content: unknown): unknown {
  const [only, ...others]: readonly unknown[] = Array.isArray(content) ? content : [];
  return others.length === 0 && isPlainText(only) ? only.text : content;
}

const isPlainText = (block: unknown): block is JsonRecord =>
  isRecord(block) && block.type === "text" && Object.keys(block).length === 2;

/** Returns the digest of a list with one more block. */
export const extendDigest = (list: number, digest: number): number =>
  mixed(Math.imul(low(list) ^ low(digest), 0x9e3779b1) + 1, Math.imul(high(list) + high(digest), 0x85ebca6b));

/** Returns a hash of 53 bits (cyrb53), because 53 bits fit into a number. */
export function hash(text: string): number {
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x9e3779b1);
    other = Math.imul(other ^ code, 0x5f356495);
  }
  return mixed(one, other);
}

function mixed(one: number, other: number): number {
  const first = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
  const second =
    Math.imul(other ^ (other >>> 16), 0x85ebca6b) ^ Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return 0x1_0000_0000 * (second & 0x1f_ffff) + (first >>> 0);
}

const low = (digest: number): number => digest | 0;
const high = (digest: number): number => Math.floor(digest / 0x1_0000_0000) | 0;

/**
 * Number of newest messages whose whole text is compared. Hosts often change messages that they just created.
 */
const FULLY_COMPARED_MESSAGES = 8;

/** A message object in its last known state. */
interface SeenMessage {
  content: unknown;
  size: number;
  /** Copy of the message's content in that state, see `contentCopyOf`. */
  readonly contentCopy: unknown;
  /** Copy that replaces the message object after the host changed it. */
  readonly copy: Message | undefined;
}

/**
 * Finds messages that the host changed in place. The engine recognizes a message by its object. Therefore a
 * copy replaces each changed object, as if the host had passed another message.
 *
 * In each turn, the detector compares the content object, the number of blocks and the lengths of the texts.
 * It compares only the newest messages completely. If the host replaces a text in an older message with
 * another text of the same length, the detector misses the change.
 */
export class InPlaceChangeDetector {
  readonly #seen = new WeakMap<object, SeenMessage>();

  /**
   * Replaces changed messages with copies. Returns the same list if no message changed. Throws if a changed
   * message is not readable.
   */
  replaceIn(messages: readonly Message[]): readonly Message[] {
    const wholeFrom = messages.length - FULLY_COMPARED_MESSAGES;
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

  /** Returns the message that replaces this object. */
  replacementFor(message: Message): Message {
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
      // If the host changed the object while another conversation used it, a copy replaces the object.
      const copy = isOutdated(message) ? copyOf(message, index) : undefined;
      this.#note(message, { content, size, contentCopy: said, copy });
      return copy ?? message;
    }
    if (isSameJson(seen.contentCopy, said)) {
      // The host may have created a new but equal content object.
      seen.content = content;
      seen.size = size;
      return seen.copy ?? message;
    }
    const copy = copyOf(message, index);
    markOutdated(seen.copy ?? message);
    this.#note(message, { content, size, contentCopy: said, copy });
    return copy;
  }

  #note(message: Message, seen: SeenMessage): void {
    this.#seen.set(message as object, seen);
    if (!contents.has(message as object)) contents.set(message as object, seen.contentCopy);
    if (seen.copy === undefined) return;
    this.#seen.set(seen.copy as object, { ...seen, content: contentOf(seen.copy), copy: undefined });
  }
}

/** Returns a number that depends on the number of blocks and the lengths of their texts. */
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

/** Copies a message with its whole content, because the host may change the original again. */
function copyOf(message: Message & JsonRecord, index: number): Message {
  requireReadable(message, index);
  const inner = message.message;
  const content: unknown = structuredCopy(contentOf(message));
  const copy = isRecord(inner) ? { ...message, message: { ...inner, content } } : { ...message, content };
  return copy as unknown as Message;
}

const structuredCopy = (content: unknown): unknown =>
  content === undefined ? undefined : (JSON.parse(JSON.stringify(content)) as unknown);
