import { LonghaulError } from "@longhaul/core/errors";

/** Also what a closed terminal and a system that shuts down send: the hooks' processes would outlive us. */
const INTERRUPTS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Does work that the person may end at any moment. Mostly nothing has been written until it is done, so the only thing
 * to say then is that. A second interrupt ends the program itself.
 */
export async function untilInterrupted<T>(
  work: (signal: AbortSignal) => Promise<T>,
  remedy: string = "Nothing was changed.",
): Promise<T> {
  const abort = new AbortController();
  const interrupted = (): void => {
    // A moment later: the package that keeps locks ends the program at once where it finds nobody else listening.
    queueMicrotask(release);
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
      remedy,
      cause: error,
    });
  } finally {
    release();
  }
}
