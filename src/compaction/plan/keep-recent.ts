/** Recent messages kept verbatim, in tokens: enough for the work at hand. A file of its own, so that `--help` can name it at once. */
export const KEEP_RECENT_TOKENS = 10_000;

/** Of the target: kept messages must not fill a small window. */
const KEEP_RECENT_SHARE = 0.1;

/** Recent tokens to keep where the result must stay below the target. */
export function keepRecentUnder(targetTokens: number): number {
  return Math.min(KEEP_RECENT_TOKENS, Math.floor(targetTokens * KEEP_RECENT_SHARE));
}

/** Of the conversation: a compaction of a short one would otherwise keep nearly all of it. */
const KEEP_RECENT_CONVERSATION_SHARE = 0.25;

export interface KeepRecentLimits {
  /** The result must stay below it. */
  readonly targetTokens: number;
  /** All messages before the compaction. */
  readonly conversationTokens: number;
  /** In place of {@link KEEP_RECENT_TOKENS}, whatever the target. */
  readonly usualTokens?: number | undefined;
}

/** Recent tokens to keep where the caller does not say how many: at most a quarter of the conversation. */
export function defaultKeepRecent(limits: KeepRecentLimits): number {
  const { targetTokens, conversationTokens, usualTokens = keepRecentUnder(targetTokens) } = limits;
  return Math.min(usualTokens, Math.floor(conversationTokens * KEEP_RECENT_CONVERSATION_SHARE));
}
