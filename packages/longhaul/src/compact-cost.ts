import type { Compaction, CompactionPlan, SummaryAttempt } from "@longhaul/core/compaction";
import { unchangedTokens } from "@longhaul/core/internal/compaction";
import { inputTokens } from "@longhaul/core/internal/messages";
import type { Thresholds } from "@longhaul/core/measure";
import { costOf, netSaving, type PriceTable, weigh } from "@longhaul/core/measure";
import { BUILT_IN_MODEL_NAME } from "@longhaul/core/summary";
import type { Session } from "@longhaul/sessions";
import { type CallCost, expectedCall, sessionSituation } from "@longhaul/sessions/internal";
import type { CostReport } from "./cost-report.ts";

/** Costs and savings of one compaction, in dollars. */
export interface CompactCost
  extends Pick<CostReport, "model" | "arePricesAssumed" | "call" | "assumedCall" | "expectedTurns"> {
  /** Cost of writing the next prompt to the provider's cache again. 0 if the cache is cold. */
  readonly rewrite: number;
  readonly savedPerTurn: number;
  /** Number of turns until the compaction pays off. Null if it never does. */
  readonly breakEvenTurns: number | null;
  /**
   * Savings over the expected turns, minus the costs above. `inspect` computes this figure in the same way.
   */
  readonly netSaving: number;
}

interface CompactCostInput {
  readonly session: Session;
  readonly plan: CompactionPlan;
  readonly compaction: Compaction;
  readonly thresholds: Thresholds;
  readonly now: Date;
  readonly prices: PriceTable;
  /** Model of `--model` that a dry run does not call. Undefined if there is no dry run or no `--model`. */
  readonly wouldAsk: string | undefined;
}

/** Computes the cost of a compaction. Returns null if the price of the summary call is unknown. */
export function compactCost(input: CompactCostInput): CompactCost | null {
  const { session, plan, compaction, thresholds, prices } = input;
  const { tokensBefore } = plan;
  const now = input.now.getTime();
  const situation = sessionSituation(session, { thresholds, contextTokens: tokensBefore, now, prices });
  const call = callOf(input);
  if (call === undefined) return null;
  const { tokensAfter } = compaction;
  const way = { tokensAfter, unchangedTokens: unchangedTokens(plan), callCost: call?.cost ?? 0 };
  const saving = netSaving({ ...situation, ...way, tokensBefore, turns: situation.expectedTurns });
  const weighing = weigh({ ...situation, alternatives: [{ name: "compact", ...way }] });
  const [nothing, compact] = weighing?.options ?? [];
  if (saving === undefined || weighing === undefined || nothing === undefined || compact === undefined)
    return null;
  return {
    model: situation.model,
    arePricesAssumed: situation.arePricesAssumed,
    call,
    assumedCall: call === null ? assumedCall(input, situation.model) : null,
    rewrite: saving.rewrite,
    savedPerTurn: nothing.costPerTurn - compact.costPerTurn,
    breakEvenTurns: compact.breakEvenTurns ?? null,
    expectedTurns: Math.round(weighing.expectedTurns),
    netSaving: nothing.total - compact.total,
  };
}

/**
 * Returns the summary calls that were made or that are expected. Null if there are none. Undefined if their
 * price is unknown.
 */
function callOf(input: CompactCostInput): CallCost | null | undefined {
  const { compaction, plan, thresholds, wouldAsk, prices } = input;
  if (wouldAsk === undefined) return callsMade(compaction.attempts, prices);
  if (wouldAsk === BUILT_IN_MODEL_NAME) return null;
  return expectedCall(plan, thresholds, wouldAsk, prices);
}

/**
 * Returns the call that a summary by this model would need. Null if notes replace the summary, because that
 * needs no call.
 */
function assumedCall(
  { compaction, plan, thresholds, prices }: CompactCostInput,
  model: string,
): CallCost | null {
  if (compaction.written.source === "notes") return null;
  return expectedCall(plan, thresholds, model, prices) ?? null;
}

/** Adds up the calls of all attempts. Includes failed calls, which were billed too. */
export function callsMade(
  attempts: readonly SummaryAttempt[],
  prices: PriceTable,
): CallCost | null | undefined {
  let sum = null as CallCost | null;
  for (const { usage, model } of attempts) {
    if (usage === undefined || model === undefined) continue;
    const cost = costOf(usage, model, prices);
    if (cost === undefined) return undefined;
    sum = {
      model,
      inputTokens: (sum?.inputTokens ?? 0) + inputTokens(usage),
      outputTokens: (sum?.outputTokens ?? 0) + usage.output_tokens,
      cost: (sum?.cost ?? 0) + cost,
      isEstimate: false,
    };
  }
  return sum;
}
