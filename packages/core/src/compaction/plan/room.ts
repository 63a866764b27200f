import { SUMMARY_BUDGET_TOKENS } from "../summary/builtin/budget.ts";

/** Tokens of the parts of a result. A file with few imports, so that `--help` can name them at once. */

/** Recent messages kept verbatim, in tokens: enough for the work at hand. */
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

/** Below this a summary could not even name the work. */
export const SMALLEST_SUMMARY_TOKENS = 600;

/** Todos, plan and agents under way take little, and nobody else would tell the agent of them. */
export const LEAST_RESTORE_TOKENS = 2_000;
export const LEAST_RESTORE_SHARE = 0.2;

/** Tokens that messages beside the summary may have. */
export interface KeptRoom {
  /** With these the result stays below its target. */
  readonly wishTokens: number;
  /**
   * The window holds these beside the smallest summary, with nothing restored. Unseen results may use them, as far as
   * each keeps its least part.
   */
  readonly mostTokens: number;
}

interface RoomLimits {
  readonly targetTokens: number;
  /** The result may have as many where unseen results need them; by default the target. */
  readonly limitTokens?: number | undefined;
  readonly overheadTokens: number;
  /** Of a summary that is written already. */
  readonly summaryTokens?: number | undefined;
}

export function roomBesideSummary(limits: RoomLimits): KeptRoom {
  const { targetTokens, overheadTokens, summaryTokens } = limits;
  const limitTokens = Math.max(targetTokens, limits.limitTokens ?? targetTokens);
  const mostTokens = limitTokens - overheadTokens - 1 - (summaryTokens ?? SMALLEST_SUMMARY_TOKENS);
  const wishTokens = roomForKept(targetTokens, overheadTokens, summaryTokens);
  return { wishTokens, mostTokens: Math.max(wishTokens, mostTokens) };
}

/** With room for the least that is restored. */
function roomForKept(targetTokens: number, overheadTokens: number, summaryTokens?: number): number {
  const room = targetTokens - overheadTokens - 1;
  const left = room - Math.min(LEAST_RESTORE_TOKENS, room * LEAST_RESTORE_SHARE);
  const expected = Math.min(SUMMARY_BUDGET_TOKENS, Math.max(SMALLEST_SUMMARY_TOKENS, left / 2));
  return Math.max(0, left - (summaryTokens ?? expected));
}
