/**
 * The field of a line in the session file with the places at which its thinking blocks were written, see
 * `BoundThinking`. Another way to compute a place needs another name.
 */
export const PLACES_FIELD = "thinkingBehind";

/**
 * The field of a line with a usage: estimated tokens of the messages that the usage is about, without the response
 * itself. See `ReportedPrefixes`.
 */
export const PREFIX_FIELD = "usagePrefixTokens";

/**
 * The field of a line with a usage: tokens that the provider cleared by edits of the request, so that the usage does not
 * include them. Absent where it cleared none.
 */
export const CLEARED_FIELD = "usageClearedTokens";

const LINE_FIELDS = [PLACES_FIELD, PREFIX_FIELD, CLEARED_FIELD] as const;

/** The message without fields that only lines of the session file have; the very object if it has none. */
export function withoutLineFields<T extends object>(message: T): T {
  if (!LINE_FIELDS.some((name) => name in message)) return message;
  const rest = { ...message } as Record<string, unknown>;
  for (const name of LINE_FIELDS) delete rest[name];
  return rest as T;
}
