import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import type { MovableClock } from "@longhaul/simulator";

const realSetTimeout = globalThis.setTimeout;
const realClearTimeout = globalThis.clearTimeout;
const realSetInterval = globalThis.setInterval;
const realClearInterval = globalThis.clearInterval;
const realDelay = timersPromises.setTimeout;

/** Number of idle turns of the event loop after which only timers can continue the program. */
const IDLE_TURNS = 4;
const START_MS = Date.UTC(2026, 10, 15, 12);

/**
 * True while an `import()` is pending. Its hooks, such as those of tsx, run in another thread, and Node keeps the port
 * to this thread alive until they answer.
 */
const isImporting = (): boolean => process.getActiveResourcesInfo().includes("MessagePort");

interface Timer {
  at: number;
  readonly order: number;
  readonly everyMs: number | undefined;
  readonly fire: () => void;
}

/** A handle with the methods that node's own handles have. */
class Handle {
  readonly timer: Timer;

  constructor(timer: Timer) {
    this.timer = timer;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

/** The result of a call that did not settle in time. */
export const HUNG: unique symbol = Symbol("hung");

/**
 * Replaces the timers of this process. Time stops while anything runs. When the program is idle, time jumps
 * to the next timer, so five minutes of silence take no real time. File access is invisible to the event
 * loop, so wrap it in `hold`.
 */
export class VirtualTime implements MovableClock {
  #now = START_MS;
  #order = 0;
  #held = 0;
  #idleTurns = 0;
  #isInstalled = false;
  /**
   * True if the next idle check is scheduled. While work is held, no check is scheduled, because it would
   * only waste time.
   */
  #isTicking = false;
  readonly #waiting: (() => void)[] = [];
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** Runs this work while the virtual time is stopped. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#held += 1;
    try {
      return await work();
    } finally {
      this.#held -= 1;
      this.#idleTurns = 0;
      if (this.#held === 0) this.#release();
    }
  }

  /** Resolves when no work is held. */
  async unheld(): Promise<void> {
    while (this.#held > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
    if (!this.#isTicking && this.#isInstalled) this.#tickSoon();
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.#add(resolve, milliseconds, undefined);
    });
  }

  /** Returns the result of the work, or `HUNG` if it takes longer than the limit. */
  async within<T>(limitMs: number, work: Promise<T>): Promise<T | typeof HUNG> {
    let timer: Timer | undefined;
    const limit = new Promise<typeof HUNG>((resolve) => {
      timer = this.#add(() => resolve(HUNG), limitMs, undefined);
    });
    try {
      return await Promise.race([work, limit]);
    } finally {
      if (timer !== undefined) this.#timers.delete(timer);
    }
  }

  install(): void {
    this.#isInstalled = true;
    const start = (fire: (...args: unknown[]) => void, delay = 0, ...args: unknown[]): Handle =>
      new Handle(this.#add(() => fire(...args), delay, undefined));
    const repeat = (fire: (...args: unknown[]) => void, delay = 0, ...args: unknown[]): Handle =>
      new Handle(this.#add(() => fire(...args), delay, Math.max(1, delay)));
    const stop = (handle: unknown): void => {
      if (handle instanceof Handle) this.#timers.delete(handle.timer);
      else realClearTimeout(handle as NodeJS.Timeout);
    };
    globalThis.setTimeout = start as unknown as typeof setTimeout;
    globalThis.setInterval = repeat as unknown as typeof setInterval;
    globalThis.clearTimeout = stop as typeof clearTimeout;
    globalThis.clearInterval = stop as typeof clearInterval;
    timersPromises.setTimeout = this.#delay as typeof timersPromises.setTimeout;
    syncBuiltinESMExports();
    this.#tickSoon();
  }

  uninstall(): void {
    this.#isInstalled = false;
    this.#timers.clear();
    globalThis.setTimeout = realSetTimeout;
    globalThis.setInterval = realSetInterval;
    globalThis.clearTimeout = realClearTimeout;
    globalThis.clearInterval = realClearInterval;
    timersPromises.setTimeout = realDelay;
    syncBuiltinESMExports();
  }

  readonly #delay = <T>(
    milliseconds = 0,
    value?: T,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#timers.delete(timer);
        reject(signal?.reason);
      };
      const done = (): void => {
        signal?.removeEventListener("abort", abort);
        resolve(value);
      };
      const timer = this.#add(done, milliseconds, undefined);
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort, { once: true });
    });

  #add(fire: () => void, delay: number, everyMs: number | undefined): Timer {
    const timer = { at: this.#now + Math.max(0, delay), order: this.#order++, everyMs, fire };
    this.#timers.add(timer);
    this.#idleTurns = 0;
    return timer;
  }

  #tickSoon(): void {
    this.#isTicking = true;
    setImmediate(this.#tick);
  }

  readonly #tick = (): void => {
    this.#isTicking = false;
    if (!this.#isInstalled || this.#held > 0) return;
    this.#tickSoon();
    this.#idleTurns += 1;
    if (this.#idleTurns < IDLE_TURNS || isImporting()) return;
    const next = this.#next();
    if (next === undefined) return;
    this.#idleTurns = 0;
    this.#now = Math.max(this.#now, next.at);
    if (next.everyMs === undefined) this.#timers.delete(next);
    else next.at = this.#now + next.everyMs;
    next.fire();
  };

  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order))
        next = timer;
    }
    return next;
  }
}
