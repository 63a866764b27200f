/** Something that waits for a time. */
interface Sleeper {
  readonly until: number;
  wake(): void;
}

/**
 * A clock that stands still until it is moved, and wakes those who wait for a time as it passes it. So a session of
 * days is replayed in seconds, and what would have taken a minute in the background takes a minute of it.
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

  /** Everything that is due until then happens in its order, each with what follows from it. */
  async advanceTo(time: number): Promise<void> {
    await settled();
    for (let next = this.#next(); next !== undefined && next.until <= time; next = this.#next()) {
      await this.#wake(next);
    }
    this.#now = Math.max(this.#now, time);
  }

  /** Lets time pass only as far as this work has to wait for it. Fails where it waits for something else. */
  async passDuring<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = (): void => {
      isDone = true;
    };
    work.then(done, done);
    for (await settled(); !isDone; await settled()) {
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
    await settled();
  }
}

/** All that follows from what has happened has happened: promises settle before the next turn of the event loop. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
