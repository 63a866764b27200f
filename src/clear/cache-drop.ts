/** Cache reads vary a little from call to call; a drop is one that is large both in share and in tokens. */
const DROP_SHARE = 0.05;
const DROP_TOKENS = 2_000;

/** Whether so much less was read from the cache than expected that it must have been broken or lost. */
export function isCacheDrop(expectedTokens: number, readTokens: number): boolean {
  const missing = expectedTokens - readTokens;
  return missing > expectedTokens * DROP_SHARE && missing > DROP_TOKENS;
}
