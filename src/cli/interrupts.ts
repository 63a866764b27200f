import { LonghaulError } from "../errors.ts";

/** Also what a closed terminal and a system that shuts down send: the hooks' processes would outlive us. */
const INTERRUPTS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Does work that the person may end at any moment. Until it is done nothing has been written, so the only thing
 * to say then is that. A second interrupt ends the program itself.
 */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const interrupted = (): void => {
    release();
    abort.abort();
  };
  const release = (): void => {
    for (const name of INTERRUPTS) process.removeListener(name, interrupted);
  };
  for (const name of INTERRUPTS) process.on(name, interrupted);
  try {
    return await work(abort.signal);
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    throw new LonghaulError("model-aborted", "Interrupted.", {
      remedy: "Nothing was changed.",
      cause: error,
    });
  } finally {
    release();
  }
}
