import { withoutLineFields } from "../messages/entry.ts";
import { isRecord, type JsonRecord } from "../messages/untrusted.ts";
import {
  adoptDigests,
  coreCountOf,
  coreDigestsOf,
  digestOf,
  extended,
  isOutdated,
  isSameJson,
} from "./compare-messages.ts";
import type { Message } from "./options.ts";

/** A list that a host may continue with: the one it gave, or one that it got back. */
export class HostList {
  /** The host began the conversation with it. */
  readonly isFirst: boolean;
  /** The first message of the log that comes after the messages below. */
  at: number;
  /** Messages of the log that the host has shown in this list: up to an index without a gap, then one by one. */
  shownTo: number;
  shownBeyond: readonly number[] = [];
  /** The turn that last read it. */
  usedIn = 0;
  /** Messages up to the last rewrite. Undefined for a list that the host does not use now: then the digest is known. */
  #messages: Message[] | undefined;
  #length: number;
  /** Known without messages. */
  #core: Core = NO_CORE;

  constructor(messages: readonly Message[], at: number, isFirst: boolean) {
    this.#messages = [...messages];
    this.#length = messages.length;
    this.at = at;
    this.shownTo = at;
    this.isFirst = isFirst;
  }

  get messages(): readonly Message[] | undefined {
    return this.#messages;
  }

  /** Undefined with messages. */
  get blocks(): number | undefined {
    return this.#messages === undefined ? this.#core.blocks : undefined;
  }

  /**
   * The number of messages that say what it says, from the first one on. Undefined if the list does not start with it.
   * The messages of a covered list may be cut and decorated differently.
   */
  startIn(messages: readonly Message[], isCovered: boolean): number | undefined {
    if (this.#length === 0 && this.isFirst) return undefined;
    const known = this.#messages;
    if (known === undefined) return startInCore(messages, this.#core);
    if (messages.length >= this.#length && sharedLength(messages, known) === this.#length)
      return this.#length;
    return isCovered ? startInCore(messages, coreOf(known)) : undefined;
  }

  /** Makes the message that comes after it a part of it. */
  extend(next: { readonly messages: readonly Message[]; readonly digests: readonly number[] }): void {
    this.#length += 1;
    if (this.#messages === undefined) this.#core = extendedCore(this.#core, next.digests);
    else this.#messages.push(...next.messages);
  }

  /**
   * Takes the host's objects up to `start`, by which the next turn recognizes the list at once. Returns those that are
   * others.
   */
  renew(messages: readonly Message[], start: number): readonly Copy[] {
    const before = this.#messages;
    const copies: Copy[] = [];
    if (before === undefined || start !== this.#length) {
      this.#messages = messages.slice(0, start);
      this.#length = start;
    } else
      for (let at = nextDifference(messages, before, 0); at < this.#length; ) {
        const copy = { message: messages[at] as Message, original: before[at] as Message };
        // The same number of messages may be cut elsewhere.
        if (hasSameCore(copy)) copies.push(copy);
        before[at] = copy.message;
        at = nextDifference(messages, before, at + 1);
      }
    return copies;
  }

  /** Keeps no message in memory that only the host could still need. */
  release(): void {
    if (this.#messages === undefined) return;
    this.#core = coreOf(this.#messages);
    this.#messages = undefined;
  }
}

/** A message that came after the beginning. Only its digest is kept once a rewrite may have removed it. */
export class Logged {
  #message: { readonly value: Message } | undefined;
  /** Of its blocks, without the object. Most messages have one block. */
  #sealed: number | readonly number[] = [];

  constructor(message: Message) {
    this.#message = { value: message };
  }

  /** Of its blocks, see `coreDigestsOf`. */
  get digests(): readonly number[] {
    if (this.#message !== undefined) return coreDigestsOf(this.#message.value);
    return typeof this.#sealed === "number" ? [this.#sealed] : this.#sealed;
  }

  /** The whole message counts as long as the object is there. */
  get digest(): number {
    return this.#message === undefined ? digestOfBlocks(this.digests) : digestOf(this.#message.value);
  }

  /** Empty without the object. */
  get messages(): readonly Message[] {
    return this.#message === undefined ? [] : [this.#message.value];
  }

  says(message: Message): boolean {
    return this.#message === undefined
      ? coreDigestOf(message) === this.digest
      : saysTheSame(message, this.#message.value);
  }

  /** Takes the host's object, see `HostList.renew`. */
  renew(message: Message): readonly Copy[] {
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

const hasSameCore = ({ message, original }: Copy): boolean =>
  coreOf([message]).digest === coreOf([original]).digest;

/** The number of blocks in a list, a digest of all, and that of the last one, see `coreDigestsOf`. */
interface Core {
  readonly blocks: number;
  readonly digest: number;
  readonly last: number | undefined;
}

const NO_CORE: Core = { blocks: 0, digest: 0, last: undefined };

const extendedCore = ({ blocks, digest, last }: Core, digests: readonly number[]): Core => ({
  blocks: blocks + digests.length,
  digest: digests.reduce(extended, digest),
  last: digests.at(-1) ?? last,
});

const coreOf = (messages: readonly Message[]): Core => extendedCore(NO_CORE, messages.flatMap(coreDigestsOf));

function startInCore(messages: readonly Message[], core: Core): number | undefined {
  let start = 0;
  let blocks = 0;
  while (start < messages.length && blocks < core.blocks) blocks += coreCountOf(messages[start++] as Message);
  if (blocks !== core.blocks) return undefined;
  // One block is enough to tell most lists apart.
  const last = messages[start - 1];
  if (last !== undefined && coreDigestsOf(last).at(-1) !== core.last) return undefined;
  return coreOf(messages.slice(0, start)).digest === core.digest ? start : undefined;
}

/** An object that says the same as one that was known before. */
export interface Copy {
  readonly message: Message;
  readonly original: Message;
}

/**
 * Every message is compared: one that the host exchanged must not go unseen, and one that it made anew (out of a
 * database, as a copy) is the same if it says the same.
 */
export function sharedLength(messages: readonly Message[], known: readonly Message[]): number {
  let at = nextDifference(messages, known, 0);
  while (at < known.length && saysTheSame(messages[at], known[at]))
    at = nextDifference(messages, known, at + 1);
  return at;
}

/** By reference. Four at a time, which halves the only part of a turn that grows with the conversation. */
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

/** The host may have changed the known object in place, and pass a copy with the change. */
export function saysTheSame(given: unknown, known: unknown): boolean {
  if (given === known) return true;
  if (!isRecord(given) || !isRecord(known)) return false;
  // Most that differ do so here already, and need not be written out.
  if (given.role !== known.role || given.uuid !== known.uuid || sizeOf(given) !== sizeOf(known)) return false;
  if (!isSameJson(withoutLineFields(given), withoutLineFields(known)) || isOutdated(known)) return false;
  if (!isOutdated(given)) adoptDigests(given, known);
  return true;
}

const sizeOf = ({ content }: JsonRecord): number =>
  typeof content === "string" || Array.isArray(content) ? content.length : -1;

const digestOfBlocks = (digests: readonly number[]): number => digests.reduce(extended, 0);

export const coreDigestOf = (message: Message): number => digestOfBlocks(coreDigestsOf(message));
