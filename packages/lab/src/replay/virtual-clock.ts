interface Sleeper {
  readonly until: number;
  wake(): void;
}

/**
 * A clock that moves only on request. A sleep ends when the clock reaches the end time of that sleep. So a
 * session of several days replays in seconds, although a background task of one minute takes one minute of
 * virtual time.
 */
export class VirtualClock {
  #now: number;
  readonly #sleepers: Sleeper[] = [];

  constructor(startMs: number) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((wake) => {
      this.#sleepers.push({ until: this.#now + milliseconds, wake });
    });
  }

  /**
   * Advances the clock to a time. Ends all sleeps that are due by that time, the earliest first, and runs the
   * work that follows each sleep.
   */
  async advanceTo(time: number): Promise<void> {
    await flushPromises();
    for (let next = this.#next(); next !== undefined && next.until <= time; next = this.#next()) {
      await this.#wake(next);
    }
    this.#now = Math.max(this.#now, time);
  }

  /**
   * Advances the clock until this work is done, and no further. If the work waits for anything but the clock,
   * the returned promise stays pending.
   */
  async advanceUntilDone<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = (): void => {
      isDone = true;
    };
    work.then(done, done);
    for (await flushPromises(); !isDone; await flushPromises()) {
      const next = this.#next();
      if (next === undefined) return work;
      await this.#wake(next);
    }
    return work;
  }

  #next(): Sleeper | undefined {
    return this.#sleepers.toSorted((one, other) => one.until - other.until)[0];
  }

  async #wake(sleeper: Sleeper): Promise<void> {
    this.#sleepers.splice(this.#sleepers.indexOf(sleeper), 1);
    this.#now = Math.max(this.#now, sleeper.until);
    sleeper.wake();
    await flushPromises();
  }
}

/** Waits for the next turn of the event loop. All pending promise callbacks run before that turn. */
const flushPromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
