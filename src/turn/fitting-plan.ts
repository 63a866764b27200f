import { fitToTarget } from "../compact/feasibility.ts";
import { type CompactionPlan, planCompaction } from "../compact/plan.ts";
import { LonghaulError } from "../errors.ts";
import { DECISION_PADDING } from "../tokens/measure.ts";
import { reportFailure } from "./run-compaction.ts";
import { measuredBy, snapshotOf } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";

/**
 * What a compaction leaves should be well below the threshold, or the next one is due at once: a small window
 * would be filled up with what is put back.
 */
export const RESULT_SHARE = 0.6;

export interface FittingPlan {
  readonly plan: CompactionPlan;
  readonly targetTokens: number;
  readonly restoreBudgetTokens: number;
}

/** A plan whose result gets under the threshold; else what there is at least, whatever is done. */
export function planThatFits(
  state: ConversationState,
): (FittingPlan & { readonly floorTokens: number }) | { readonly floorTokens: number } {
  const snapshot = snapshotOf(state);
  const measured = measuredBy(state);
  const threshold = state.thresholds.autoCompact;
  const { keepRecentTokens: wished } = state.options.compaction;
  // Where nobody reports what there is, the result will be looked at with the padding of an estimate.
  const padding = state.size().source === "usage" ? 1 : DECISION_PADDING;
  const targets = [Math.floor((threshold * RESULT_SHARE) / padding), threshold];
  let floorTokens = 0;
  for (const targetTokens of targets) {
    const fit = fitToTarget(snapshot, { targetTokens, keepRecentTokens: wished, measured });
    floorTokens = fit.floorTokens;
    if (!fit.feasible) continue;
    const { keepRecentTokens, restoreBudgetTokens } = fit;
    try {
      const plan = planCompaction(snapshot, { trigger: "auto", targetTokens, keepRecentTokens, measured });
      return { plan, targetTokens, restoreBudgetTokens, floorTokens };
    } catch (error) {
      if (error instanceof LonghaulError) reportFailure(state, "auto", error, 0);
      throw error;
    }
  }
  return { floorTokens };
}
