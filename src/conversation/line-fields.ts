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

/** The message without fields that only lines of the session file have; the very object if it has none. */
export function withoutLineFields<T extends object>(message: T): T {
  if (!(PLACES_FIELD in message || PREFIX_FIELD in message)) return message;
  const { [PLACES_FIELD]: _, [PREFIX_FIELD]: __, ...rest } = message as Record<string, unknown>;
  return rest as T;
}
