import type { HookOutcome } from "../../hooks/hook.ts";
import { throwIfAborted, untilAborted } from "../../models/abortable.ts";
import { SUMMARY_BUDGET_TOKENS } from "../../summary/builtin/summarise.ts";
import { withoutQuotedFacts } from "../../summary/sections.ts";
import type { SummaryWishes } from "../../summary/summary-prompt.ts";
import { type HookOptions, hookSteps } from "../hook-steps.ts";
import type { CompactionPlan } from "../plan/compaction-plan.ts";
import { SMALLEST_SUMMARY_TOKENS } from "../plan/feasibility.ts";
import { type ChainOptions, type WrittenSummary, writeSummaryByChain } from "./summary-chain.ts";

/**
 * A summary that was written before the compaction began, such as notes that were taken along the way. It is used
 * before anybody is asked to write one.
 */
export interface SummarySource {
  readonly text: string;
  /**
   * Why the text does not serve as this summary; undefined where it does.
   *
   * @param asked what the user asked the summary to look after.
   * @param instructions the same with what PreCompact hooks added to it.
   */
  decline(asked: string | undefined, instructions: string | undefined): string | undefined;
}

export interface SummaryOptions extends ChainOptions, HookOptions {
  /** Used where it does not decline. */
  readonly source?: SummarySource | undefined;
  /** Size of the built-in summary. */
  readonly summaryBudgetTokens?: number;
  /** The result should stay below this: what is put back shrinks for it. */
  readonly targetTokens?: number;
}

/**
 * A summary that is written, and nothing has changed yet: it can be used at once or later. Its instructions are the
 * user's words, then those of the hooks.
 */
export interface PreparedSummary extends SummaryWishes {
  readonly written: WrittenSummary;
  /** Of the hooks that were asked before it. */
  readonly hookOutcomes: readonly HookOutcome[];
}

/** The slow part of a compaction: hooks are asked, and somebody writes the summary. */
export async function prepareSummary(
  plan: CompactionPlan,
  options: SummaryOptions,
): Promise<PreparedSummary> {
  throwIfAborted(options.signal);
  const hooks = hookSteps(plan, options);
  const instructions = await hooks.preCompact(options.instructions);
  const written = await untilAborted(options.signal, writeSummary(plan, options, instructions));
  return { written: withoutForgery(written), hookOutcomes: hooks.outcomes, instructions };
}

async function writeSummary(
  plan: CompactionPlan,
  options: SummaryOptions,
  instructions: string | undefined,
): Promise<WrittenSummary> {
  const { variant, summarised, kept, clearedToolUseIds, countTokens } = plan;
  const { source } = options;
  return await writeSummaryByChain(
    {
      variant,
      summarised,
      kept,
      clearedToolUseIds,
      countTokens,
      builtInBudgetTokens: summaryBudget(plan, options),
      offered: source && {
        text: source.text,
        unavailable: source.decline(options.instructions, instructions),
      },
    },
    { ...options, instructions },
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

/** Only we quote what was said: a section that claims to, copied or made up by whoever wrote, would pass for ours. */
function withoutForgery(written: WrittenSummary): WrittenSummary {
  // Signed by the provider: any other byte would be refused.
  if (written.source === "provider") return written;
  const text = withoutQuotedFacts(written.text);
  return text === written.text ? written : { ...written, text };
}
