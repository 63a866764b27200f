import { withoutLineFields } from "../messages/entry.ts";
import { isRecord, type JsonRecord } from "../messages/untrusted.ts";
import {
  adoptDigests,
  coreCountOf,
  coreDigestsOf,
  digestOf,
  extendDigest,
  isOutdated,
  isSameJson,
} from "./compare-messages.ts";
import type { Message } from "./options.ts";

/** A list with which the host may continue: its own list, or one that the engine returned. */
export class HostList {
  /** True for the list with which the host started the conversation. */
  readonly isFirst: boolean;
  /** Log index of the first message after `messages`. */
  nextLogIndex: number;
  /** Log messages that this list contained: all before the index `shownTo`, and those in `shownBeyond`. */
  shownTo: number;
  shownBeyond: readonly number[] = [];
  /** The last turn that read this list. */
  lastUsedTurn = 0;
  /**
   * Messages up to the last rewrite. If the host uses another list now, this is undefined, and only a digest
   * is kept.
   */
  #messages: Message[] | undefined;
  #length: number;
  /** Set if the messages are not in memory. */
  #core: Core = NO_CORE;

  constructor(messages: readonly Message[], at: number, isFirst: boolean) {
    this.#messages = [...messages];
    this.#length = messages.length;
    this.nextLogIndex = at;
    this.shownTo = at;
    this.isFirst = isFirst;
  }

  get messages(): readonly Message[] | undefined {
    return this.#messages;
  }

  /** Number of blocks. Undefined while the messages are in memory. */
  get blocks(): number | undefined {
    return this.#messages === undefined ? this.#core.blocks : undefined;
  }

  /**
   * Returns how many messages at the start of `messages` correspond to this list. Returns undefined if
   * `messages` does not start with this list. If a rewrite covers the list, `messages` may be split and
   * decorated differently.
   */
  matchStart(messages: readonly Message[], isCovered: boolean): number | undefined {
    if (this.#length === 0 && this.isFirst) return undefined;
    const known = this.#messages;
    if (known === undefined) return startInCore(messages, this.#core);
    if (messages.length >= this.#length && sharedLength(messages, known) === this.#length)
      return this.#length;
    return isCovered ? startInCore(messages, coreOf(known)) : undefined;
  }

  /** Adds the next message to the list. */
  extend(next: { readonly messages: readonly Message[]; readonly digests: readonly number[] }): void {
    this.#length += 1;
    if (this.#messages === undefined) this.#core = extendedCore(this.#core, next.digests);
    else this.#messages.push(...next.messages);
  }

  /**
   * Adopts the host's objects up to `start`, so that the next turn recognizes the list immediately. Returns
   * the host's objects that differ from the known objects.
   */
  adoptObjects(messages: readonly Message[], start: number): readonly MessageCopy[] {
    const before = this.#messages;
    const copies: MessageCopy[] = [];
    if (before === undefined || start !== this.#length) {
      this.#messages = messages.slice(0, start);
      this.#length = start;
    } else
      for (let at = nextDifference(messages, before, 0); at < this.#length; ) {
        const copy = { message: messages[at] as Message, original: before[at] as Message };
        // A message at the same index may have other blocks, because the host split the list differently.
        if (hasSameCore(copy)) copies.push(copy);
        before[at] = copy.message;
        at = nextDifference(messages, before, at + 1);
      }
    return copies;
  }

  /** Drops the messages from memory and keeps their digest. */
  release(): void {
    if (this.#messages === undefined) return;
    this.#core = coreOf(this.#messages);
    this.#messages = undefined;
  }
}

/**
 * A message after the start of the conversation. If a rewrite may have removed the message, only its digest
 * is kept.
 */
export class LoggedMessage {
  #message: { readonly value: Message } | undefined;
  /** Block digests, set when the object is dropped. A single number for one block saves memory. */
  #sealed: number | readonly number[] = [];

  constructor(message: Message) {
    this.#message = { value: message };
  }

  /** Block digests, see `coreDigestsOf`. */
  get digests(): readonly number[] {
    if (this.#message !== undefined) return coreDigestsOf(this.#message.value);
    return typeof this.#sealed === "number" ? [this.#sealed] : this.#sealed;
  }

  /** Digest of the whole message. If the object is no longer in memory, digest of its blocks. */
  get digest(): number {
    return this.#message === undefined ? digestOfBlocks(this.digests) : digestOf(this.#message.value);
  }

  /** The message as a list. Empty if the object is not in memory. */
  get messages(): readonly Message[] {
    return this.#message === undefined ? [] : [this.#message.value];
  }

  equals(message: Message): boolean {
    return this.#message === undefined
      ? coreDigestOf(message) === this.digest
      : hasSameContent(message, this.#message.value);
  }

  /** Adopts the host's object, see `HostList.adoptObjects`. */
  adoptObject(message: Message): readonly MessageCopy[] {
    const known = this.#message;
    if (known !== undefined && known.value === message) return [];
    this.#message = { value: message };
    return known === undefined ? [] : [{ message, original: known.value }];
  }

  seal(): void {
    const { digests } = this;
    const [only] = digests;
    this.#sealed = digests.length === 1 && only !== undefined ? only : digests;
    this.#message = undefined;
  }
}

const hasSameCore = ({ message, original }: MessageCopy): boolean =>
  coreOf([message]).digest === coreOf([original]).digest;

/** Number of blocks in a list, digest of all blocks, and digest of the last block, see `coreDigestsOf`. */
interface Core {
  readonly blocks: number;
  readonly digest: number;
  readonly last: number | undefined;
}

const NO_CORE: Core = { blocks: 0, digest: 0, last: undefined };

const extendedCore = ({ blocks, digest, last }: Core, digests: readonly number[]): Core => ({
  blocks: blocks + digests.length,
  digest: digests.reduce(extendDigest, digest),
  last: digests.at(-1) ?? last,
});

const coreOf = (messages: readonly Message[]): Core => extendedCore(NO_CORE, messages.flatMap(coreDigestsOf));

function startInCore(messages: readonly Message[], core: Core): number | undefined {
  let start = 0;
  let blocks = 0;
  while (start < messages.length && blocks < core.blocks) blocks += coreCountOf(messages[start++] as Message);
  if (blocks !== core.blocks) return undefined;
  // Compares the last block first, because it distinguishes most lists.
  const last = messages[start - 1];
  if (last !== undefined && coreDigestsOf(last).at(-1) !== core.last) return undefined;
  return coreOf(messages.slice(0, start)).digest === core.digest ? start : undefined;
}

/** An object that is equal to a known one. */
export interface MessageCopy {
  readonly message: Message;
  readonly original: Message;
}

/**
 * Returns the number of equal messages at the start of both lists. Compares every message, to find a message
 * that the host replaced. A new object (from a database, or a copy) counts as the same message if its content
 * is equal.
 */
export function sharedLength(messages: readonly Message[], known: readonly Message[]): number {
  let at = nextDifference(messages, known, 0);
  while (at < known.length && hasSameContent(messages[at], known[at]))
    at = nextDifference(messages, known, at + 1);
  return at;
}

/**
 * Compares objects by reference, four at a time. The cost of this comparison is the only cost of a turn that
 * grows with the conversation.
 */
function nextDifference(messages: readonly Message[], known: readonly Message[], from: number): number {
  const { length } = known;
  let at = from;
  while (
    at + 3 < length &&
    messages[at] === known[at] &&
    messages[at + 1] === known[at + 1] &&
    messages[at + 2] === known[at + 2] &&
    messages[at + 3] === known[at + 3]
  )
    at += 4;
  while (at < length && messages[at] === known[at]) at++;
  return at;
}

/**
 * Returns true if both objects have the same content. If the host changed the known object in place, returns
 * false, even for an equal copy.
 */
export function hasSameContent(given: unknown, known: unknown): boolean {
  if (given === known) return true;
  if (!isRecord(given) || !isRecord(known)) return false;
  // These cheap checks find most differences without serialization.
  if (given.role !== known.role || given.uuid !== known.uuid || sizeOf(given) !== sizeOf(known)) return false;
  if (!isSameJson(withoutLineFields(given), withoutLineFields(known)) || isOutdated(known)) return false;
  if (!isOutdated(given)) adoptDigests(given, known);
  return true;
}

const sizeOf = ({ content }: JsonRecord): number =>
  typeof content === "string" || Array.isArray(content) ? content.length : -1;

const digestOfBlocks = (digests: readonly number[]): number => digests.reduce(extendDigest, 0);

export const coreDigestOf = (message: Message): number => digestOfBlocks(coreDigestsOf(message));
