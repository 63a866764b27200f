import { SUMMARY_BUDGET_TOKENS } from "../summary/summary-budget.ts";

/** Token sizes of the parts of a result. This file has few imports, so that `--help` loads quickly. */

/** Recent tokens to keep verbatim: enough for the current work. */
export const KEEP_RECENT_TOKENS = 10_000;

/** Share of the target for kept messages, which must not fill a small window. */
const KEEP_RECENT_SHARE = 0.1;

/** Returns the recent tokens to keep if the result must stay below the target. */
export function keepRecentUnder(targetTokens: number): number {
  return Math.min(KEEP_RECENT_TOKENS, Math.floor(targetTokens * KEEP_RECENT_SHARE));
}

/** Share of the conversation for kept messages. A short conversation would otherwise be kept almost whole. */
const KEEP_RECENT_CONVERSATION_SHARE = 0.25;

export interface KeepRecentLimits {
  /** Size that the result must stay below. */
  readonly targetTokens: number;
  /** Tokens of all messages before the compaction. */
  readonly conversationTokens: number;
  /** Replaces {@link KEEP_RECENT_TOKENS}, whatever the target. */
  readonly usualTokens?: number | undefined;
}

/** Returns the recent tokens to keep by default: at most a quarter of the conversation. */
export function defaultKeepRecent(limits: KeepRecentLimits): number {
  const { targetTokens, conversationTokens, usualTokens = keepRecentUnder(targetTokens) } = limits;
  return Math.min(usualTokens, Math.floor(conversationTokens * KEEP_RECENT_CONVERSATION_SHARE));
}

/** Tokens of the smallest summary that can still say what the agent works on. */
export const SMALLEST_SUMMARY_TOKENS = 600;

/**
 * Tokens for to-dos, plan and running agents. They are small, and nothing else tells the agent about them.
 */
export const MIN_RESTORE_TOKENS = 2_000;
export const MIN_RESTORE_SHARE = 0.2;

/** Tokens for the messages next to the summary. */
export interface KeptRoom {
  /** Maximum tokens with which the result stays below its target. */
  readonly preferredTokens: number;
  /**
   * Tokens that fit into the window next to the smallest summary if nothing is restored. If unseen results
   * need more tokens to keep their minimum size, they may use up to this number.
   */
  readonly mostTokens: number;
}

interface RoomLimits {
  readonly targetTokens: number;
  /**
   * Size limit of the result if unseen results do not fit into the target. Equal to the target by default.
   */
  readonly limitTokens?: number | undefined;
  readonly overheadTokens: number;
  /** Tokens of a summary that already exists. */
  readonly summaryTokens?: number | undefined;
}

export function roomBesideSummary(limits: RoomLimits): KeptRoom {
  const { targetTokens, overheadTokens, summaryTokens } = limits;
  const limitTokens = Math.max(targetTokens, limits.limitTokens ?? targetTokens);
  const mostTokens = limitTokens - overheadTokens - 1 - (summaryTokens ?? SMALLEST_SUMMARY_TOKENS);
  const preferredTokens = roomForKept(targetTokens, overheadTokens, summaryTokens);
  return { preferredTokens, mostTokens: Math.max(preferredTokens, mostTokens) };
}

/**
 * Returns the tokens for kept messages that remain after the summary and the minimum for restored content.
 */
function roomForKept(targetTokens: number, overheadTokens: number, summaryTokens?: number): number {
  const room = targetTokens - overheadTokens - 1;
  const left = room - Math.min(MIN_RESTORE_TOKENS, room * MIN_RESTORE_SHARE);
  const expected = Math.min(SUMMARY_BUDGET_TOKENS, Math.max(SMALLEST_SUMMARY_TOKENS, left / 2));
  return Math.max(0, left - (summaryTokens ?? expected));
}
