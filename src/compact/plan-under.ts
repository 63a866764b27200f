import { fitToTarget } from "./feasibility.ts";
import { type CompactionPlan, type PlanOptions, planCompaction } from "./plan.ts";
import type { Snapshot } from "./sized.ts";

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

export interface PlanUnderOptions extends Pick<PlanOptions, "keepRecentTokens" | "countText" | "measured"> {
  readonly thresholdTokens: number;
  /** See {@link PlanOptions.limitTokens}. */
  readonly limitTokens?: number | undefined;
  /** By how much the result will be taken for larger than it is, where nobody reports its size. */
  readonly padding?: number;
}

/** A plan whose result gets under the threshold; else what there is at least, whatever is done. */
export function planUnder(
  snapshot: Snapshot,
  options: PlanUnderOptions,
): (FittingPlan & { readonly floorTokens: number }) | { readonly floorTokens: number } {
  const {
    thresholdTokens,
    limitTokens,
    padding = 1,
    keepRecentTokens: wished,
    countText,
    measured,
  } = options;
  const targets = [Math.floor((thresholdTokens * RESULT_SHARE) / padding), thresholdTokens];
  let floorTokens = 0;
  let found: FittingPlan | undefined;
  for (const targetTokens of targets) {
    const fit = fitToTarget(snapshot, { targetTokens, keepRecentTokens: wished, countText, measured });
    floorTokens = fit.floorTokens;
    if (!fit.feasible) continue;
    const { keepRecentTokens, restoreBudgetTokens } = fit;
    const limits = { targetTokens, limitTokens, keepRecentTokens };
    const plan = planCompaction(snapshot, { trigger: "auto", ...limits, countText, measured });
    found = { plan, targetTokens, restoreBudgetTokens };
    // A result that no model has seen stays whole as long as there is room for it at all.
    if ((found.plan.unseen?.shortened.length ?? 0) === 0) break;
  }
  return { ...found, floorTokens };
}
