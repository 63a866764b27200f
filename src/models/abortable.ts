import { abortedError, throwIfAborted } from "./abort.ts";

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
