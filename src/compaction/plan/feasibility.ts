import { SUMMARY_BUDGET_TOKENS } from "../../summary/builtin/summarise.ts";
import { defaultKeepRecent } from "./keep-recent.ts";
import { type SizeOptions, type Snapshot, sizeUp, sum } from "./sized.ts";

/** Below this a summary could not even name the work. */
export const SMALLEST_SUMMARY_TOKENS = 600;

/** All that is ever put back: 50,000 tokens of files and 25,000 of skills, the rest is small beside them. */
const RESTORE_WISH_TOKENS = 75_000;

/** Todos, plan and agents under way take little, and nobody else would tell the agent of them. */
export const LEAST_RESTORE_TOKENS = 2_000;
const LEAST_RESTORE_SHARE = 0.2;

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

export interface RoomLimits {
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

/** Wishes for the result of a compaction, in tokens as the provider counts them. */
export interface ResultWishes extends SizeOptions {
  /** Size that the result must stay below. */
  readonly targetTokens: number;
  /** By default as a plan has it. */
  readonly keepRecentTokens?: number | undefined;
  /** As large as the summary usually becomes. */
  readonly summaryTokens?: number | undefined;
  /** For everything that is put back. */
  readonly restoreBudgetTokens?: number | undefined;
}

/** `floorTokens` is what there is at least after any compaction. */
export type Feasibility =
  | {
      readonly feasible: true;
      readonly floorTokens: number;
      readonly keepRecentTokens: number;
      readonly restoreBudgetTokens: number;
      readonly summaryTokens: number;
    }
  | { readonly feasible: false; readonly floorTokens: number };

/**
 * Tells if a compaction can get under the target, and which wishes it can grant. Restored content shrinks first, since
 * the agent can fetch most of it again. Then the kept messages and the summary share what is left: an agent that never
 * saw the result it has just asked for would ask again.
 */
export function fitToTarget(snapshot: Snapshot, wishes: ResultWishes): Feasibility {
  const { overheadTokens, tokens } = sizeUp(snapshot, wishes);
  const wantedSummary = wishes.summaryTokens ?? SUMMARY_BUDGET_TOKENS;
  const floorTokens = overheadTokens + Math.min(SMALLEST_SUMMARY_TOKENS, wantedSummary);
  if (!(floorTokens < wishes.targetTokens)) return { feasible: false, floorTokens };
  const room = wishes.targetTokens - overheadTokens - 1;
  let left = room;
  const grant = (wish: number): number => {
    const granted = Math.floor(Math.max(0, Math.min(wish, left)));
    left -= granted;
    return granted;
  };
  const restoreWish = wishes.restoreBudgetTokens ?? RESTORE_WISH_TOKENS;
  const restoreBase = grant(Math.min(restoreWish, LEAST_RESTORE_TOKENS, room * LEAST_RESTORE_SHARE));
  const summaryTokens = grant(Math.min(wantedSummary, Math.max(SMALLEST_SUMMARY_TOKENS, left / 2)));
  const limits = { targetTokens: wishes.targetTokens, conversationTokens: sum(tokens) };
  const keepRecentTokens = grant(wishes.keepRecentTokens ?? defaultKeepRecent(limits));
  const restoreBudgetTokens = restoreBase + grant(restoreWish - restoreBase);
  return { feasible: true, floorTokens, summaryTokens, keepRecentTokens, restoreBudgetTokens };
}
