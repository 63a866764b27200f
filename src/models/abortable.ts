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
export interface LinkedController {
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
