/**
 * The only place where the provider's words are matched: for what has neither a status nor a code of its
 * own. The wording may change; then the failure is still typed, as `other`.
 */

export interface TooLong {
  readonly tokens?: number;
  readonly limit?: number;
}

interface TooLongText {
  readonly pattern: RegExp;
  /** From the numbers in the text, in their order. */
  readonly numbers?: (numbers: readonly number[]) => TooLong;
}

const TOO_LONG_TEXTS: readonly TooLongText[] = [
  {
    pattern: /prompt is too long: (\d+) tokens > (\d+) maximum/i,
    numbers: ([tokens = 0, limit = 0]) => ({ tokens, limit }),
  },
  {
    // Models before 4.5 refuse what would not fit together with the longest answer.
    pattern: /input length and `?max_tokens`? exceed context limit: (\d+) \+ (\d+) > (\d+)/i,
    numbers: ([input = 0, output = 0, limit = 0]) => ({ tokens: input + output, limit }),
  },
  {
    // Servers of other makers that speak this API.
    pattern:
      /maximum context length is (\d+) tokens.*?(?:requested|resulted in|messages have) (\d+) tokens/is,
    numbers: ([limit = 0, tokens = 0]) => ({ tokens, limit }),
  },
  { pattern: /prompt is too long|input length and `?max_tokens`? exceed|input is too long/i },
  { pattern: /(?:exceeds?|larger than|longer than) (?:the |this model's )?(?:available |maximum )?context/i },
  { pattern: /maximum context length|context_length_exceeded/i },
];

export function readTooLong(text: string): TooLong | undefined {
  for (const { pattern, numbers } of TOO_LONG_TEXTS) {
    const match = pattern.exec(text);
    if (match !== null) return numbers?.(match.slice(1).map(Number)) ?? {};
  }
  return undefined;
}

const TOO_MUCH_MEDIA = /too much media|image exceeds .* maximum|maximum of \d+ pdf pages|too many images/i;
const THINKING_MISMATCH =
  /invalid `signature` in `(?:redacted_)?thinking` block|blocks in the latest assistant message cannot be modified|bound to a different conversation/i;
const SPEND_LIMIT = /reached your (?:specified )?api usage limits|spend limit|credit balance is too low/i;
const NO_CREDENTIALS = /could not resolve authentication method|`apiKey` function|api key is required/i;

export const isTooMuchMedia = (text: string): boolean => TOO_MUCH_MEDIA.test(text);
export const isThinkingMismatch = (text: string): boolean => THINKING_MISMATCH.test(text);
export const isSpendLimit = (text: string): boolean => SPEND_LIMIT.test(text);
export const isWithoutCredentials = (text: string): boolean => NO_CREDENTIALS.test(text);
export const isAboutModel = (text: string): boolean => /\bmodel\b/i.test(text);
