import { planUnder } from "../compaction/plan/compaction-plan.ts";
import { LonghaulError } from "../errors.ts";
import { DECISION_PADDING } from "../tokens/measure.ts";
import { reportFailure } from "./run-compaction.ts";
import { limitOf, measuredBy, snapshotOf } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";

/** A plan whose result gets under the threshold; else what there is at least, whatever is done. */
export function fittingPlan(state: ConversationState): ReturnType<typeof planUnder> {
  return planUnder(snapshotOf(state), {
    thresholdTokens: state.thresholds.autoCompact,
    // Where nobody reports what there is, the result will be looked at with the padding of an estimate.
    padding: state.size().source === "usage" ? 1 : DECISION_PADDING,
    limitTokens: limitOf(state),
    keepRecentTokens: state.options.compaction.keepRecentTokens,
    measured: measuredBy(state),
  });
}

/** The same; that there is nothing to compact is reported. */
export function planThatFits(state: ConversationState): ReturnType<typeof planUnder> {
  try {
    return fittingPlan(state);
  } catch (error) {
    if (error instanceof LonghaulError) reportFailure(state, "auto", error, 0);
    throw error;
  }
}
