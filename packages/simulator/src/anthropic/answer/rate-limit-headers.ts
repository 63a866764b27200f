/**
 * Rate limits of the simulated organization. The headers report them, but the simulator does not enforce
 * them.
 */
const LIMITS = { requests: 4_000, inputTokens: 2_000_000, outputTokens: 400_000 } as const;
/** The API rounds the remaining tokens to multiples of this number. */
const ROUNDING_TOKENS = 1_000;
const MINUTE_MS = 60_000;

/**
 * Returns the rate limit headers of an answer. They assume that no other call was made in the same minute.
 */
export function rateLimitHeaders(now: number, input = 0, output = 0): Record<string, string> {
  const headers: Record<string, string> = {};
  const add = (what: string, limit: number, used: number, rounding = ROUNDING_TOKENS): void => {
    const remaining = Math.round(Math.max(0, limit - used) / rounding) * rounding;
    const refilledAt = new Date(now + Math.ceil((MINUTE_MS * Math.min(used, limit)) / limit));
    headers[`anthropic-ratelimit-${what}-limit`] = String(limit);
    headers[`anthropic-ratelimit-${what}-remaining`] = String(remaining);
    headers[`anthropic-ratelimit-${what}-reset`] = refilledAt.toISOString().replace(/\.\d+Z$/, "Z");
  };
  add("requests", LIMITS.requests, 1, 1);
  add("input-tokens", LIMITS.inputTokens, input);
  add("output-tokens", LIMITS.outputTokens, output);
  add("tokens", LIMITS.inputTokens + LIMITS.outputTokens, input + output);
  return headers;
}
