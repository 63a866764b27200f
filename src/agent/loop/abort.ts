/** Whatever the work does, the wait for it ends with the signal. */
export async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  // Its own failure, which an abort often brings about, must not be left without anybody who handles it.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
