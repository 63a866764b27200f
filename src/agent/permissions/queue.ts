/** One thing at a time, in the order in which they came. */
export interface Queue {
  /** Runs it when its turn has come; rejects, and never runs it, when the signal fires before. */
  run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
}

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run: async (signal, work) => {
      const before = last;
      let end: () => void = () => undefined;
      last = Promise.all([before, new Promise<void>((resolve) => (end = resolve))]);
      try {
        await unlessAborted(signal, before);
        return await work();
      } finally {
        end();
      }
    },
  };
}

/** What is waited for goes on when the signal fires: only the waiting ends. */
async function unlessAborted(signal: AbortSignal, waiting: Promise<unknown>): Promise<void> {
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([waiting, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
