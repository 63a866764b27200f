import type { Model, ModelUsage } from "../models/port.ts";
import { SUMMARY_BUDGET_TOKENS, summarise } from "../summary/builtin/summarise.ts";
import { requestSummary, type SummaryProgress } from "../summary/request/request-summary.ts";
import { ESTIMATORS, measureEntries } from "../tokens/measure.ts";
import type { CompactionPlan } from "./plan.ts";

export interface SummaryOptions {
  readonly instructions?: string | undefined;
  /** Size of the built-in summary. */
  readonly summaryBudgetTokens?: number;
  /** The result should stay below this: what is put back shrinks for it. */
  readonly targetTokens?: number;
  /** Writes the summary; absent: the built-in summariser does. */
  readonly model?: Model | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: SummaryProgress) => void) | undefined;
}

/** A summary and who wrote it. */
export type WrittenSummary =
  | { readonly source: "built-in"; readonly text: string }
  | {
      readonly source: "model";
      readonly text: string;
      readonly model: string;
      readonly usage: ModelUsage;
      readonly isTruncated: boolean;
      readonly condensedRounds: number;
    };

/** Below this a summary could not even name the work. */
const SMALLEST_SUMMARY_TOKENS = 600;

/** The kept messages are read as well: without them the summary would call open what has been done since. */
export async function writeSummary(plan: CompactionPlan, options: SummaryOptions): Promise<WrittenSummary> {
  const entries = [...plan.summarised, ...plan.kept];
  const { model, instructions, signal, onProgress } = options;
  if (model === undefined) {
    const { text } = summarise(entries, {
      countTokens: ESTIMATORS.o200k,
      budgetTokens: summaryBudget(plan, options),
      instructions,
    });
    return { source: "built-in", text };
  }
  const summary = await requestSummary(model, entries, {
    instructions,
    clearedToolUseIds: plan.clearedToolUseIds,
    countTokens: plan.countTokens,
    keepsRecent: plan.kept.length > 0,
    signal,
    onProgress,
  });
  return { source: "model", ...summary };
}

/**
 * A summary larger than a third of what it stands for is no summary. Under a target it takes at most half
 * of the room; where there is none, a shorter summary would not help, so it stays a good one.
 */
function summaryBudget(plan: CompactionPlan, options: SummaryOptions): number {
  const wanted = options.summaryBudgetTokens ?? SUMMARY_BUDGET_TOKENS;
  const measured = measureEntries(plan.summarised, ESTIMATORS.o200k);
  const room = (options.targetTokens ?? Number.POSITIVE_INFINITY) - plan.overheadTokens - plan.keptTokens;
  const share = room / 2 < SMALLEST_SUMMARY_TOKENS ? wanted : room / 2;
  return Math.floor(Math.max(SMALLEST_SUMMARY_TOKENS, Math.min(wanted, measured / 3, share)));
}
