/** Recent messages kept verbatim, in tokens: enough for the work at hand. A file of its own, so that `--help` can name it at once. */
export const KEEP_RECENT_TOKENS = 10_000;
