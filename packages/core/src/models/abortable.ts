import { ModelError } from "./model-error.ts";

/** Waits for work only until a signal fires, even if the work ignores the signal. */
export interface Abortable {
  wait<T>(work: PromiseLike<T>): Promise<T>;
  /** Iterates a source. Closes it when the consumer stops early or the signal fires. */
  each<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, undefined>;
  /** Removes the listener. Call this at the end, so that a long-lived signal does not collect listeners. */
  release(): void;
}

export function abortableBy(signal: AbortSignal | undefined): Abortable {
  let fire: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    fire = () => reject(abortedError());
  });
  // Prevents an unhandled rejection if nobody waits when the signal fires.
  aborted.catch(() => undefined);
  signal?.addEventListener("abort", fire, { once: true });
  const wait = async <T>(work: PromiseLike<T>): Promise<T> => {
    if (signal === undefined) return await work;
    // Start the race before anything throws. An abort often makes the work itself fail, and that rejection
    // needs a handler.
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

/** An abort controller that also fires when an outer signal fires. */
interface LinkedController {
  readonly controller: AbortController;
  /** Removes the listener from the outer signal. Call this at the end, like {@link Abortable.release}. */
  release(): void;
}

export function linkedTo(signal: AbortSignal | undefined): LinkedController {
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  return { controller, release: () => signal?.removeEventListener("abort", stop) };
}

/** Waits for one piece of work. See {@link abortableBy}. */
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
    // Do not wait: a source that hangs must not delay a consumer that stops.
    if (!isOver) items.return?.()?.catch(() => undefined);
  }
}

export const abortedError = (): ModelError => new ModelError({ kind: "aborted" }, "The call was aborted.");

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError();
}

/** The longest delay that a timer supports, about 24 days. A longer delay fires immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const isTimeLimit = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value > 0;

/** Abort reason of work that exceeds its time limit. */
export class TimeLimitError extends Error {
  constructor(limitMs: number) {
    super(`it took longer than ${limitMs / 1_000} seconds`);
  }
}

/**
 * A time limit for several pieces of work in sequence. When the time is over, the signal of each piece fires,
 * and nobody waits for work that ignores its signal. The budget has its own timer instead of a combined
 * signal (`AbortSignal.any`). In Node 20, the garbage collector can drop a combined signal together with its
 * timeout, and the signal never fires.
 */
export class TimeBudget {
  /** Fires when the time is over or when the caller's signal fires. */
  readonly signal: AbortSignal;
  readonly #abortable: Abortable;
  readonly #release: () => void;
  #isOver = false;

  /**
   * @param isBackground If false, the timer keeps the process alive, because somebody waits for the result.
   */
  constructor(signal: AbortSignal | undefined, limitMs: number, isBackground = false) {
    const { controller, release } = linkedTo(signal);
    const end = (): void => {
      this.#isOver = true;
      controller.abort(new TimeLimitError(limitMs));
    };
    const timer = setTimeout(end, Math.min(limitMs, MAX_TIMER_MS));
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

  /**
   * Waits for work. Throws the error from `late` when the time is over, and stops waiting when the caller's
   * signal fires.
   */
  async wait<T>(work: PromiseLike<T>, late: () => Error): Promise<T> {
    try {
      return await this.#abortable.wait(work);
    } catch (error) {
      throw this.#isOver ? late() : error;
    }
  }

  /** Stops the timer. Call this at the end, because the timer keeps the process alive. */
  close(): void {
    this.#release();
  }
}

/** Waits for one piece of work. See {@link TimeBudget}. */
export async function waitWithTimeLimit<T>(
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

/** Runs background work that stops when its signal fires. The time limit does not keep the process alive. */
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
