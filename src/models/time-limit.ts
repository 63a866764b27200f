/** The longest that a timer can wait, some 24 days: with more it would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Does something that is told to end, by the signal that it gets, when the time is over or the signal given fires. With
 * a timer of its own: a signal that is made of others (`AbortSignal.any`) can be forgotten by the garbage collector of
 * Node 20 together with its timeout, and then never fires.
 */
export async function withTimeLimit<Result>(
  signal: AbortSignal,
  limitMs: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const end = new AbortController();
  const stop = (): void => end.abort(signal.reason);
  const timer = setTimeout(() => end.abort(new TimeLimitError(limitMs)), Math.min(limitMs, LONGEST_MS));
  // Only the work itself keeps a program alive, not the limit that it has.
  (timer as { unref?: () => void }).unref?.();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await work(end.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

export class TimeLimitError extends Error {
  constructor(limitMs: number) {
    super(`it took longer than ${limitMs / 1_000} seconds`);
  }
}
