/** One look at the clock adds no more than this: a jump into the far future must not eat up all precision. */
const LONGEST_STEP_MS = 3_600_000;

/**
 * Time that has passed, by a clock that may jump. A jump back counts as no time at all and a jump ahead as an
 * hour, so that what waits for time to pass neither waits for ever nor waits for nothing.
 */
export class PassedTime {
  readonly #now: () => number;
  #last: number;
  #passedMs = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#last = now();
  }

  /** In milliseconds; never falls, always finite. */
  read(): number {
    const now = this.#now();
    if (!Number.isFinite(now)) return this.#passedMs;
    const step = now - this.#last;
    if (step > 0) this.#passedMs += Math.min(step, LONGEST_STEP_MS);
    this.#last = now;
    return this.#passedMs;
  }
}
