/** Of the simulator's imaginary organization. Told in the headers, enforced only by faults on demand. */
const LIMITS = { requests: 4_000, inputTokens: 2_000_000, outputTokens: 400_000 } as const;
/** The API rounds what is left of tokens to this. */
const ROUNDING_TOKENS = 1_000;
const MINUTE_MS = 60_000;

export interface CallFigures {
  readonly now: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** Which workspace it is follows from the key, so a call without one is told no workspace. */
export function identityHeaders(
  requestId: string,
  organization: string,
  workspace: string | undefined,
): Record<string, string> {
  const own = { "request-id": requestId, "anthropic-organization-id": organization };
  return workspace === undefined ? own : { ...own, "anthropic-workspace-id": workspace };
}

/** As if this call were the only one of its minute. */
export function rateLimitHeaders(call: CallFigures): Record<string, string> {
  const input = call.inputTokens ?? 0;
  const output = call.outputTokens ?? 0;
  return {
    ...limitHeaders("requests", LIMITS.requests, 1, call.now, 1),
    ...limitHeaders("input-tokens", LIMITS.inputTokens, input, call.now, ROUNDING_TOKENS),
    ...limitHeaders("output-tokens", LIMITS.outputTokens, output, call.now, ROUNDING_TOKENS),
    ...limitHeaders(
      "tokens",
      LIMITS.inputTokens + LIMITS.outputTokens,
      input + output,
      call.now,
      ROUNDING_TOKENS,
    ),
  };
}

function limitHeaders(
  what: string,
  limit: number,
  used: number,
  now: number,
  rounding: number,
): Record<string, string> {
  const remaining = Math.round(Math.max(0, limit - used) / rounding) * rounding;
  const refilledAt = new Date(now + Math.ceil((MINUTE_MS * Math.min(used, limit)) / limit));
  return {
    [`anthropic-ratelimit-${what}-limit`]: String(limit),
    [`anthropic-ratelimit-${what}-remaining`]: String(remaining),
    [`anthropic-ratelimit-${what}-reset`]: refilledAt.toISOString().replace(/\.\d+Z$/, "Z"),
  };
}
