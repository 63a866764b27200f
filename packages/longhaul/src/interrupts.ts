import { LonghaulError } from "@longhaul/core/errors";

/**
 * Signals that interrupt a command. They include the signals for a closed terminal and for a system shutdown.
 * Without a listener for these, processes of hooks would outlive this program.
 */
const INTERRUPTS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs work that the user can interrupt at any moment. The default remedy says that nothing was changed,
 * because most commands write only at the end. A second interrupt ends the program.
 */
export async function untilInterrupted<T>(
  work: (signal: AbortSignal) => Promise<T>,
  remedy: string = "Nothing was changed. Run the command again to start over.",
): Promise<T> {
  const abort = new AbortController();
  const interrupted = (): void => {
    // Removes the listeners only after all listeners of this signal have run. If the lock package were the
    // only listener, it would end the program immediately.
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
