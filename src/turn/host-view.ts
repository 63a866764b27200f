import { isRecord, type JsonRecord } from "../conversation/untrusted.ts";
import type { Message } from "./options.ts";
import { isSameJson } from "./same-json.ts";

/**
 * The conversation as the host holds it. A host may go on with what it was handed back, or keep its own messages
 * and only ever add to them: both are recognised. References are kept, for its array may change under our hands.
 */
export class HostView {
  #given: Message[] = [];
  /** The same conversation as it was handed back, once something in it was rewritten. */
  #returned: Message[] | undefined;

  /** How much of this is known already; undefined where it is another conversation than before. */
  knownLength(messages: readonly Message[]): number | undefined {
    const isOwn = this.#given.length > 0 && continues(messages, this.#given);
    // Where one is the beginning of the other, the longer one says more.
    const isLonger = !isOwn || (this.#returned?.length ?? 0) >= this.#given.length;
    if (this.#returned !== undefined && isLonger && continues(messages, this.#returned)) {
      // The host has taken it over. What it had before must not be held on to: that would grow without end.
      this.#given = this.#returned;
      this.#returned = undefined;
      return this.#given.length;
    }
    return isOwn ? this.#given.length : undefined;
  }

  /** What was known of the beginning of this, up to the first message that says something else. */
  sharedWith(messages: readonly Message[]): readonly Message[] {
    const returned = this.#returned ?? [];
    const own = sharedLength(messages, this.#given);
    const other = sharedLength(messages, returned);
    return other > own ? returned.slice(0, other) : this.#given.slice(0, own);
  }

  begin(messages: readonly Message[]): void {
    this.#given = [...messages];
    this.#returned = undefined;
  }

  add(messages: readonly Message[]): void {
    for (const message of messages) {
      this.#given.push(message);
      this.#returned?.push(message);
    }
  }

  /** From now on the host is handed these instead of its own. */
  replace(messages: readonly Message[]): void {
    this.#returned = [...messages];
  }

  /** The same, unless it is what the host holds already. */
  offer(messages: readonly Message[], held: readonly Message[]): void {
    if (messages.length === held.length && continues(messages, held)) this.#returned = undefined;
    else this.replace(messages);
  }

  /** The host's own array where that says the same. */
  handBack(messages: readonly Message[]): readonly Message[] {
    return this.#returned === undefined ? messages : [...this.#returned];
  }
}

const continues = (messages: readonly Message[], known: readonly Message[]): boolean =>
  messages.length >= known.length && sharedLength(messages, known) === known.length;

/**
 * Every message is compared: one that the host exchanged must not go unseen, and one that it made anew (out of a
 * database, as a copy) is the same if it says the same.
 */
function sharedLength(messages: readonly Message[], known: readonly Message[]): number {
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

function saysTheSame(one: unknown, other: unknown): boolean {
  if (!isRecord(one) || !isRecord(other)) return false;
  // Most that differ do so here already, and need not be written out.
  if (one.role !== other.role || one.uuid !== other.uuid || sizeOf(one) !== sizeOf(other)) return false;
  return isSameJson(one, other);
}

const sizeOf = ({ content }: JsonRecord): number =>
  typeof content === "string" || Array.isArray(content) ? content.length : -1;
