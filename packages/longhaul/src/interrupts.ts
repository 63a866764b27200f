import { LonghaulError } from "@longhaul/core/errors";

/**
 * Includes signals of a closed terminal and of a system shutdown, because the hooks' processes would outlive
 * us.
 */
const INTERRUPTS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs work that the user can interrupt at any moment. Usually nothing is written before the end, so that is
 * all there is to report. A second interrupt ends the program.
 */
export async function untilInterrupted<T>(
  work: (signal: AbortSignal) => Promise<T>,
  remedy: string = "Nothing was changed. Run the command again to start over.",
): Promise<T> {
  const abort = new AbortController();
  const interrupted = (): void => {
    // Delayed, because the lock package ends the program immediately if there is no other listener.
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
    throw new LonghaulError("interrupted", "You interrupted the command.", {
      remedy,
      cause: error,
    });
  } finally {
    release();
  }
}
