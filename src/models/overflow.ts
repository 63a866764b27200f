import { OVERFLOW_TEXTS } from "./overflow-texts.ts";

/** By how much a request does not fit, as far as it was said. */
export interface Overflow {
  readonly tokens?: number;
  readonly limit?: number;
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
  const [tokens, limit, more] = [groups.tokens, groups.limit, groups.more].map((digits) =>
    digits === undefined ? undefined : Number(digits.replaceAll(",", "")),
  );
  return {
    ...(tokens === undefined ? {} : { tokens: tokens + (more ?? 0) }),
    ...(limit === undefined ? {} : { limit }),
  };
}
