import { ModelError } from "./model-error.ts";

/** Lets work be waited for only as long as a signal allows: whatever it does, the wait ends with the signal. */
export interface Abortable {
  wait<T>(work: PromiseLike<T>): Promise<T>;
  /** The items of a source; closes it when the listener leaves or the signal fires. */
  each<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, undefined>;
  /** To be called at the end, so that a long-lived signal does not collect listeners. */
  release(): void;
}

export function abortableBy(signal: AbortSignal | undefined): Abortable {
  let fire: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    fire = () => reject(abortedError());
  });
  // Nobody may be waiting when it fires.
  aborted.catch(() => undefined);
  signal?.addEventListener("abort", fire, { once: true });
  const wait = async <T>(work: PromiseLike<T>): Promise<T> => {
    if (signal === undefined) return await work;
    // The race takes hold of the work before anything is thrown: its own failure, which an abort often
    // brings about, must not be left without anybody who handles it.
    const first = Promise.race([work, aborted]);
    first.catch(() => undefined);
    throwIfAborted(signal);
    return await first;
  };
  return {
    wait,
    each: (source) => eachUntil(source, wait),
    release: () => signal?.removeEventListener("abort", fire),
  };
}

/** A controller that also fires with a signal given from outside. */
interface LinkedController {
  readonly controller: AbortController;
  /** Forgets the outer signal. To be called at the end, like {@link Abortable.release}. */
  release(): void;
}

export function linkedTo(signal: AbortSignal | undefined): LinkedController {
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  return { controller, release: () => signal?.removeEventListener("abort", stop) };
}

/** Waits for one piece of work; see {@link abortableBy}. */
export async function untilAborted<T>(signal: AbortSignal | undefined, work: PromiseLike<T>): Promise<T> {
  const abortable = abortableBy(signal);
  try {
    return await abortable.wait(work);
  } finally {
    abortable.release();
  }
}

async function* eachUntil<T>(source: AsyncIterable<T>, wait: Abortable["wait"]): AsyncGenerator<T, void> {
  const items = source[Symbol.asyncIterator]();
  let isOver = false;
  try {
    while (true) {
      const step = await wait(items.next());
      if (step.done === true) {
        isOver = true;
        return;
      }
      yield step.value;
    }
  } finally {
    // Not waited for: a source that hangs must not hold up who is leaving.
    if (!isOver) items.return?.()?.catch(() => undefined);
  }
}

export const abortedError = (): ModelError => new ModelError({ kind: "aborted" }, "The call was aborted.");

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError();
}

/** The longest that a timer can wait, some 24 days: with more it would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

export const isTimeLimit = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value > 0;

/** Work that outlasts its time limit is told to end with this as the reason. */
export class TimeLimitError extends Error {
  constructor(limitMs: number) {
    super(`it took longer than ${limitMs / 1_000} seconds`);
  }
}

/**
 * A span of time for several pieces of work, one after the other. At its end each of them is told by its signal, and
 * nobody waits for one that ignores it. The timer is its own: a signal that is made of others (`AbortSignal.any`) can
 * be forgotten by the garbage collector of Node 20 together with its timeout, and then never fires.
 */
export class TimeBudget {
  /** Fires when the time is over, and when the caller's signal does. */
  readonly signal: AbortSignal;
  readonly #abortable: Abortable;
  readonly #release: () => void;
  #isOver = false;

  /** The timer keeps the program alive, because somebody waits for the result, unless `isBackground` is set. */
  constructor(signal: AbortSignal | undefined, limitMs: number, isBackground = false) {
    const { controller, release } = linkedTo(signal);
    const end = (): void => {
      this.#isOver = true;
      controller.abort(new TimeLimitError(limitMs));
    };
    const timer = setTimeout(end, Math.min(limitMs, LONGEST_MS));
    if (isBackground) (timer as { unref?: () => void }).unref?.();
    this.signal = controller.signal;
    this.#abortable = abortableBy(this.signal);
    this.#release = () => {
      clearTimeout(timer);
      release();
      this.#abortable.release();
    };
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Waits for work until the time is over, which fails with `late`, or the caller's signal fires. */
  async wait<T>(work: PromiseLike<T>, late: () => Error): Promise<T> {
    try {
      return await this.#abortable.wait(work);
    } catch (error) {
      throw this.#isOver ? late() : error;
    }
  }

  /** To be called at the end: the timer would keep the program alive. */
  close(): void {
    this.#release();
  }
}

/** Waits for one piece of work; see {@link TimeBudget}. */
export async function withinTime<T>(
  signal: AbortSignal | undefined,
  limitMs: number,
  work: (signal: AbortSignal) => PromiseLike<T>,
  late: () => Error,
): Promise<T> {
  const budget = new TimeBudget(signal, limitMs);
  try {
    return await budget.wait(work(budget.signal), late);
  } finally {
    budget.close();
  }
}

/** Does background work that ends by itself when the signal fires that it gets: no time limit keeps a program alive. */
export async function withTimeLimit<Result>(
  signal: AbortSignal,
  limitMs: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const budget = new TimeBudget(signal, limitMs, true);
  try {
    return await work(budget.signal);
  } finally {
    budget.close();
  }
}
