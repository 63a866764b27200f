import { SUMMARY_BUDGET_TOKENS } from "../summary/builtin/summarise.ts";
import { type ChainOptions, type WrittenSummary, writeSummaryByChain } from "../summary/chain.ts";
import type { CompactionPlan } from "./plan.ts";

export type { WrittenSummary } from "../summary/chain.ts";

export interface SummaryOptions extends ChainOptions {
  /** Size of the built-in summary. */
  readonly summaryBudgetTokens?: number;
  /** The result should stay below this: what is put back shrinks for it. */
  readonly targetTokens?: number;
  /** The result may have as many where unseen results would lose too much; by default the target. */
  readonly limitTokens?: number;
}

/** Below this a summary could not even name the work. */
export const SMALLEST_SUMMARY_TOKENS = 600;

export async function writeSummary(plan: CompactionPlan, options: SummaryOptions): Promise<WrittenSummary> {
  const { variant, summarised, kept, clearedToolUseIds, countTokens } = plan;
  const builtInBudgetTokens = summaryBudget(plan, options);
  return await writeSummaryByChain(
    { variant, summarised, kept, clearedToolUseIds, countTokens, builtInBudgetTokens },
    options,
  );
}

/**
 * A summary larger than a third of what it stands for is no summary. Under a target it takes at most half
 * of the room; where there is none, a shorter summary would not help, so it stays a good one. Beside unseen results it
 * gives way to them.
 */
function summaryBudget(plan: CompactionPlan, options: SummaryOptions): number {
  const wanted = options.summaryBudgetTokens ?? SUMMARY_BUDGET_TOKENS;
  const { overheadTokens, keptTokens, tokenRatio } = plan;
  // The built-in summariser counts by our estimate, the plan as the provider does.
  const measured = plan.summarisedTokens / tokenRatio;
  const room =
    ((options.targetTokens ?? Number.POSITIVE_INFINITY) - overheadTokens - keptTokens) / tokenRatio;
  const isNoRoom = room / 2 < SMALLEST_SUMMARY_TOKENS;
  const share = !isNoRoom ? room / 2 : plan.unseen === undefined ? wanted : SMALLEST_SUMMARY_TOKENS;
  return Math.floor(Math.max(SMALLEST_SUMMARY_TOKENS, Math.min(wanted, measured / 3, share)));
}
