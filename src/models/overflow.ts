import { OVERFLOW_TEXTS } from "./overflow-texts.ts";

/** The size of a request that does not fit, as far as the server states it. */
export interface Overflow {
  /** Prompt and requested output together, or the prompt alone where the server counts only that. */
  readonly tokens?: number;
  readonly limit?: number;
  /** The requested output that `tokens` includes. */
  readonly outputTokens?: number;
  /** The server stopped counting at its limit: the prompt has at least this many tokens. */
  readonly isLowerBound?: true;
}

/** Undefined where the words are about something else. */
export function overflowIn(said: string): Overflow | undefined {
  for (const { pattern } of OVERFLOW_TEXTS) {
    const match = pattern.exec(said);
    if (match !== null) return namedNumbers(match.groups ?? {});
  }
  return undefined;
}

function namedNumbers(groups: Readonly<Record<string, string | undefined>>): Overflow {
  const [tokens, limit, more, output = more] = [groups.tokens, groups.limit, groups.more, groups.output].map(
    (digits) => (digits === undefined ? undefined : Number(digits.replaceAll(",", ""))),
  );
  return {
    ...(tokens === undefined ? {} : { tokens: tokens + (more ?? 0) }),
    ...(limit === undefined ? {} : { limit }),
    ...(output === undefined || output === 0 ? {} : { outputTokens: output }),
    ...(groups.bound === undefined ? {} : { isLowerBound: true }),
  };
}
