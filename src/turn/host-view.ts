import type { Message } from "./options.ts";

/**
 * The conversation as the host holds it. A host may go on with what it was handed back, or keep its own messages
 * and only ever add to them: both are recognised. References are kept, for its array may change under our hands.
 */
export class HostView {
  #given: Message[] = [];
  /** The same conversation as it was handed back, once something in it was rewritten. */
  #returned: Message[] | undefined;
  /** The host goes on with what it was handed back. */
  #isInStep = false;

  /** How much of this is known already; undefined where it is another conversation than before. */
  knownLength(messages: readonly Message[]): number | undefined {
    this.#isInStep = this.#returned !== undefined && continues(messages, this.#returned);
    if (this.#isInStep) return this.#returned?.length;
    return this.#given.length > 0 && continues(messages, this.#given) ? this.#given.length : undefined;
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
    this.#isInStep = false;
  }

  /** The host's own array where that says the same. */
  handBack(messages: readonly Message[]): readonly Message[] {
    if (this.#returned === undefined || this.#isInStep) return messages;
    return [...this.#returned];
  }
}

/** Every reference is compared: a message that the host exchanged must not go unseen. */
function continues(messages: readonly Message[], known: readonly Message[]): boolean {
  if (messages.length < known.length) return false;
  for (let index = known.length - 1; index >= 0; index--) if (messages[index] !== known[index]) return false;
  return true;
}
