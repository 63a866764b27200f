/**
 * The only place where the provider's words are matched: for what has neither a status nor a code of its
 * own. The wording may change; then the failure is still typed, as `other`.
 */

const TOO_MUCH_MEDIA = /too much media|image exceeds .* maximum|maximum of \d+ pdf pages|too many images/i;
const THINKING_MISMATCH =
  /invalid `signature` in `(?:redacted_)?thinking` block|blocks in the latest assistant message cannot be modified|bound to a different conversation/i;
const THINKING_MISSING = /expected `thinking` or `redacted_thinking`, but found/i;
const SPEND_LIMIT = /reached your (?:specified )?api usage limits|spend limit|credit balance is too low/i;
const NO_CREDENTIALS = /could not resolve authentication method|`apiKey` function|api key is required/i;

export const isTooMuchMedia = (text: string): boolean => TOO_MUCH_MEDIA.test(text);
export const isThinkingMismatch = (text: string): boolean => THINKING_MISMATCH.test(text);
export const isThinkingMissing = (text: string): boolean => THINKING_MISSING.test(text);
export const isSpendLimit = (text: string): boolean => SPEND_LIMIT.test(text);
export const isWithoutCredentials = (text: string): boolean => NO_CREDENTIALS.test(text);
export const isAboutModel = (text: string): boolean => /\bmodel\b/i.test(text);
