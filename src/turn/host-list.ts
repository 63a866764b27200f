import { withoutPlaces } from "../conversation/thinking.ts";
import { isRecord, type JsonRecord } from "../conversation/untrusted.ts";
import { coreCountOf, coreDigestsOf, extended, isOutdated } from "./message-digest.ts";
import type { Message } from "./options.ts";
import { isSameJson } from "./same-json.ts";

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
  /** Without messages: the number of their blocks, a digest of all, and that of the last one. */
  #blocks = 0;
  #digest = 0;
  #lastDigest = 0;

  constructor(messages: readonly Message[], at: number, isFirst: boolean) {
    this.#messages = [...messages];
    this.#length = messages.length;
    this.at = at;
    this.shownTo = at;
    this.isFirst = isFirst;
  }

  get length(): number {
    return this.#length;
  }

  get messages(): readonly Message[] | undefined {
    return this.#messages;
  }

  /** Undefined with messages. */
  get blocks(): number | undefined {
    return this.#messages === undefined ? this.#blocks : undefined;
  }

  /** True if these messages start with it. Those of a covered list may be cut and decorated differently. */
  starts(messages: readonly Message[], isCovered: boolean): boolean {
    if (this.#length === 0 && this.isFirst) return false;
    const known = this.#messages;
    if (known === undefined) return this.#startsInCore(messages);
    if (messages.length >= this.#length && sharedLength(messages, known) === this.#length) return true;
    if (!isCovered) return false;
    this.release();
    const starts = this.#startsInCore(messages);
    this.#messages = starts ? messages.slice(0, this.#length) : known;
    return starts;
  }

  #startsInCore(messages: readonly Message[]): boolean {
    let length = 0;
    let blocks = 0;
    while (length < messages.length && blocks < this.#blocks)
      blocks += coreCountOf(messages[length++] as Message);
    if (blocks !== this.#blocks) return false;
    // One block is enough to tell most lists apart.
    const last = messages[length - 1];
    if (last !== undefined && coreDigestsOf(last).at(-1) !== this.#lastDigest) return false;
    if (digestOfList(messages.slice(0, length)) !== this.#digest) return false;
    this.#length = length;
    return true;
  }

  /** Makes the message that comes after it a part of it. */
  extend(next: { readonly messages: readonly Message[]; readonly digests: readonly number[] }): void {
    this.#length += 1;
    if (this.#messages === undefined) this.#extend(next.digests);
    else this.#messages.push(...next.messages);
  }

  #extend(digests: readonly number[]): void {
    this.#blocks += digests.length;
    this.#digest = digests.reduce(extended, this.#digest);
    this.#lastDigest = digests.at(-1) ?? this.#lastDigest;
  }

  /** Takes the host's objects, by which the next turn recognizes the list at once. Returns those that are others. */
  renew(messages: readonly Message[]): readonly Copy[] {
    const before = this.#messages;
    const copies: Copy[] = [];
    if (before === undefined) this.#messages = messages.slice(0, this.#length);
    else
      for (let at = nextDifference(messages, before, 0); at < this.#length; ) {
        copies.push({ message: messages[at] as Message, original: before[at] as Message });
        before[at] = messages[at] as Message;
        at = nextDifference(messages, before, at + 1);
      }
    return copies;
  }

  /** Keeps no message in memory that only the host could still need. */
  release(): void {
    if (this.#messages === undefined) return;
    this.#blocks = 0;
    this.#digest = 0;
    this.#extend(this.#messages.flatMap(coreDigestsOf));
    this.#messages = undefined;
  }
}

/** An object that says the same as one that was known before. */
export interface Copy {
  readonly message: Message;
  readonly original: Message;
}

const digestOfList = (messages: readonly Message[]): number =>
  messages.flatMap(coreDigestsOf).reduce(extended, 0);

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
  return isSameJson(withoutPlaces(given), withoutPlaces(known)) && !isOutdated(known);
}

const sizeOf = ({ content }: JsonRecord): number =>
  typeof content === "string" || Array.isArray(content) ? content.length : -1;
