/** Recent messages kept verbatim, in tokens: enough for the work at hand. A file of its own, so that `--help` can name it at once. */
export const KEEP_RECENT_TOKENS = 10_000;

/** What is kept verbatim is never so much that a small window would be full of it. */
const KEEP_RECENT_SHARE = 0.1;

/** What is kept where nobody wished for anything else, of a result that must stay below the target. */
export function keepRecentUnder(targetTokens: number): number {
  return Math.min(KEEP_RECENT_TOKENS, Math.floor(targetTokens * KEEP_RECENT_SHARE));
}
