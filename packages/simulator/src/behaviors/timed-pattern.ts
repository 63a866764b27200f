import { runInNewContext } from "node:vm";

/** Longest search for a pattern in one text. An ordinary pattern takes far less than a millisecond. */
export const PATTERN_MILLISECONDS = 200;

const MICROSECONDS = 1_000;

/**
 * Maximum number of searches. The limit counts the time on the clock, so on a busy machine a search may end before
 * it has worked.
 */
const MAX_ATTEMPTS = 10;

/** A repeated group. Such a pattern may need exponential time, for example `(a+)+$`. */
const REPEATED_GROUP = /\)(?:[*+]|\{\d)/;

/**
 * Returns true if the text contains the pattern, and undefined if the search takes too long. The pattern and
 * the text come from different people, so an unlucky pair must not stop the simulator. The search has a time
 * limit only if it may need it, because the limit itself costs a millisecond.
 */
export function findsInTime(pattern: RegExp, text: string): boolean | undefined {
  const { source, flags } = pattern;
  // `search` ignores the position that a global pattern keeps between calls.
  if (!REPEATED_GROUP.test(source)) return text.search(pattern) >= 0;
  const search = (): unknown =>
    runInNewContext(
      "text.search(new RegExp(source, flags)) >= 0",
      { source, flags, text },
      { timeout: PATTERN_MILLISECONDS },
    );
  for (let attempt = 1; ; attempt++) {
    const before = process.cpuUsage();
    try {
      return search() === true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      const { user, system } = process.cpuUsage(before);
      const isBusy = (user + system) / MICROSECONDS < PATTERN_MILLISECONDS / 2;
      if (!isBusy || attempt === MAX_ATTEMPTS) return undefined;
    }
  }
}
