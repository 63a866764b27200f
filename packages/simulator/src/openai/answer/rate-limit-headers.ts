/**
 * Rate limits of the simulated organization. The headers report them, but the simulator does not enforce
 * them.
 */
const REQUESTS_PER_MINUTE = 10_000;
export const TOKENS_PER_MINUTE = 2_000_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/**
 * Returns the rate limit headers of an answer. They assume that no other call was made in the same minute.
 * The names and the form of the values are those of the guide on rate limits.
 */
export function rateLimitHeaders(tokens = 0): Record<string, string> {
  return {
    ...limitHeaders("requests", REQUESTS_PER_MINUTE, 1),
    ...limitHeaders("tokens", TOKENS_PER_MINUTE, tokens),
  };
}

/** Returns the rate limit headers of an answer to a call that had to wait for tokens. */
export function exhaustedHeaders(waitSeconds: number): Record<string, string> {
  return {
    ...rateLimitHeaders(TOKENS_PER_MINUTE),
    "x-ratelimit-reset-tokens": duration(Math.round(waitSeconds * SECOND_MS)),
  };
}

function limitHeaders(what: string, limit: number, used: number): Record<string, string> {
  return {
    [`x-ratelimit-limit-${what}`]: String(limit),
    [`x-ratelimit-remaining-${what}`]: String(Math.max(0, limit - used)),
    [`x-ratelimit-reset-${what}`]: duration(Math.ceil((MINUTE_MS * Math.min(used, limit)) / limit)),
  };
}

/** Formats a duration as the headers do: `6ms`, `1.5s`, `1m0s`. */
function duration(milliseconds: number): string {
  if (milliseconds < SECOND_MS) return `${milliseconds}ms`;
  const minutes = Math.floor(milliseconds / MINUTE_MS);
  const seconds = `${(milliseconds % MINUTE_MS) / SECOND_MS}s`;
  return minutes === 0 ? seconds : `${minutes}m${seconds}`;
}
