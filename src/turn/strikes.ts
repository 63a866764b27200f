/** So many in a row, and it is no accident. */
const MAX_STRIKES = 3;

/** How long nothing is tried then; whichever is over first lets one try through. */
export const PAUSE_MS = 600_000;
const PAUSE_TURNS = 10;

/** A pause doubles each time that its try failed, up to this many times the first: an hour, or 60 turns. */
const LONGEST_PAUSE_FACTOR = 6;

export interface Moment {
  /** By {@link PassedTime}. */
  readonly passedMs: number;
  readonly turn: number;
}

export type StrikeKind = "failures" | "ineffective";

/** Tries that came to nothing, in a row, and the pause that they lead to. */
export class Strikes {
  #count = 0;
  /** Strikes before a success of which nobody knows yet whether it helped. */
  #shelved = 0;
  #openedAt: Moment | undefined;
  #pauses = 0;
  #kind: StrikeKind = "failures";

  get count(): number {
    return this.#count;
  }

  get kind(): StrikeKind {
    return this.#kind;
  }

  isHeld({ passedMs, turn }: Moment): boolean {
    const opened = this.#openedAt;
    if (opened === undefined) return false;
    const factor = Math.min(2 ** (this.#pauses - 1), LONGEST_PAUSE_FACTOR);
    return passedMs - opened.passedMs < PAUSE_MS * factor && turn - opened.turn < PAUSE_TURNS * factor;
  }

  failed(at: Moment): void {
    this.#strike("failures", at);
  }

  /** A success that did not help: whatever was shelved for it counts again. */
  ineffective(at: Moment): void {
    this.#count += this.#shelved;
    this.#shelved = 0;
    this.#strike("ineffective", at);
  }

  /** Breaks the row for the time being. In a pause only a proof ends it: see {@link reset}. */
  succeeded(at: Moment): void {
    if (this.isHeld(at)) return;
    this.#shelved += this.#count;
    this.#count = 0;
    this.#openedAt = undefined;
  }

  /** Ends the pause for one try; if that fails, the next pause is longer. */
  release(): void {
    this.#openedAt = undefined;
  }

  reset(): void {
    this.#count = 0;
    this.#shelved = 0;
    this.#openedAt = undefined;
    this.#pauses = 0;
  }

  #strike(kind: StrikeKind, at: Moment): void {
    const wasHeld = this.isHeld(at);
    this.#count += 1;
    // Strikes of other origin during a pause do not make it longer, or it might never end.
    if (wasHeld || this.#count < MAX_STRIKES) return;
    this.#kind = kind;
    this.#openedAt = at;
    this.#pauses += 1;
  }
}
