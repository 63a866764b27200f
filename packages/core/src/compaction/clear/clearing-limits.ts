// Limits for clearing, which settings and help texts mention. This file has no imports, so that `--help`
// loads nothing else.

/**
 * Maximum tokens of all eligible results together after a clearing. This is a fifth of the usual context
 * window.
 */
export const CLEARING_TARGET_TOKENS = 40_000;

export const MINUTE_MS = 60_000;

/**
 * Longest time that a provider keeps a cached prompt. After this time, rewriting the history costs nothing
 * extra.
 */
export const IDLE_THRESHOLD_MS: number = 60 * MINUTE_MS;
