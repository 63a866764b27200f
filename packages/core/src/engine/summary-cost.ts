import type { Situation } from "../measure/cost/rewrite-cost.ts";
import { costOf } from "../measure/window/prices.ts";
import { type CostParts, situationOf, usualSizes } from "./cost-situation.ts";

/**
 * Default share of the spending for summaries of a model. In a window of 200,000 tokens, the summaries of
 * recorded sessions take 4% of it, so the limit has no effect. In one of 50,000 tokens, they took 18%.
 */
const SUMMARY_COST_SHARE = 0.1;

type KnownSituation = Omit<Situation, "alternatives">;

interface CallSizes {
  readonly contextTokens: number;
  readonly outputTokens: number;
}

/**
 * Returns true if a model may write the next summary in the background. The first summary of a conversation
 * is always a model's. After that, the summaries must stay within their share of the spending. Otherwise the
 * built-in summarizer writes the next one. It costs nothing, and it carries the earlier summary over. Returns
 * true if the prices are unknown.
 */
export function mayModelSummarize(parts: CostParts): boolean {
  const { calls, summaries } = parts.pace.spent;
  const { summaryCostShare = SUMMARY_COST_SHARE } = parts.options.compaction;
  return summaries === 0 || summaries + expectedSummaryCost(parts) <= calls * summaryCostShare;
}

/** Returns the cost of a call that writes a summary now, or 0 if it is unknown. */
export function expectedSummaryCost(parts: CostParts): number {
  const situation = situationOf(parts);
  if (situation === undefined) return 0;
  const { outputTokens } = usualSizes(parts);
  return modelCallCost(parts, { contextTokens: situation.contextTokens, outputTokens }, situation);
}

/** Returns the cost of the call for the next summary. Notes and the built-in summarizer cost nothing. */
export function summaryCallCost(parts: CostParts, sizes: CallSizes, situation: KnownSituation): number {
  return mayModelSummarize(parts) ? modelCallCost(parts, sizes, situation) : 0;
}

/** A fork reads the cached prefix, and a separate call pays for all tokens. */
function modelCallCost(
  parts: CostParts,
  { contextTokens, outputTokens }: CallSizes,
  { model, cachedTokens, prices }: KnownSituation,
): number {
  const { options, modules, frame } = parts;
  if (options.model === undefined || modules.hasSummary || options.compaction.summarizer === "built-in") {
    return 0;
  }
  const isFork = frame.current !== undefined && cachedTokens > 0;
  const read = isFork ? cachedTokens : 0;
  const usage = {
    input_tokens: Math.max(0, contextTokens - read),
    output_tokens: outputTokens,
    cache_read_input_tokens: read,
  };
  const writer = isFork ? model : (options.compaction.model?.name ?? model);
  return costOf(usage, writer, prices) ?? 0;
}
