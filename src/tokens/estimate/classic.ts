/** SPEC section 2, "Plain estimate": four characters are taken to be one token. */
const CLASSIC_CHARS_PER_TOKEN = 4;

/** The classic rule by name. It is badly short for anything but prose and code; prefer `estimateTokens`. */
export function estimateTokensClassic(text: string): number {
  return Math.round(text.length / CLASSIC_CHARS_PER_TOKEN);
}
