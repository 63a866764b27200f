import { defaultKeepRecent } from "../compaction/plan/room.ts";
import { type Situation, usualCompaction } from "../measure/cost/rewrite-cost.ts";
import type { Needs } from "./parts.ts";

/** The parts that decide if a rewrite pays. */
export type CostParts = Needs<
  | "options"
  | "gauge"
  | "thread"
  | "frame"
  | "cache"
  | "pace"
  | "health"
  | "turn"
  | "background"
  | "modules"
  | "reporter"
>;

/** Figures of the conversation that decide if a rewrite pays. Undefined if the model is unknown. */
export function situationOf(parts: CostParts): Omit<Situation, "alternatives"> | undefined {
  const { modelName, prices, cacheTtl } = parts.options;
  if (modelName === undefined) return undefined;
  const { tokens, reportedTokens, source } = parts.gauge.size();
  const known = source === "usage" ? Math.min(tokens, reportedTokens) : tokens;
  return {
    model: modelName,
    prices,
    cacheTtl,
    contextTokens: tokens,
    cachedTokens: parts.cache.isCold ? 0 : known,
    thresholdTokens: parts.gauge.thresholds.autoCompact,
    growthPerTurn: parts.pace.growthPerTurn,
    expectedTurns: parts.pace.expectedTurns,
  };
}

/**
 * Returns the tokens that a compaction usually keeps beside its summary. Excludes messages that arrive while
 * the summary is written.
 */
export function typicalKeptTokens(parts: Needs<"options" | "gauge">): number {
  const targetTokens = parts.gauge.thresholds.autoCompact;
  const conversationTokens = Math.max(0, targetTokens - parts.gauge.overheadTokens);
  const limits = { targetTokens, conversationTokens };
  return parts.options.compaction.keepRecentTokens ?? defaultKeepRecent(limits);
}

/** Predicts the result of a compaction and the output of its summary call. */
export function usualSizes(parts: Needs<"options" | "gauge" | "pace">): ReturnType<typeof usualCompaction> {
  const kept = {
    overheadTokens: parts.gauge.overheadTokens,
    keptTokens: typicalKeptTokens(parts),
    withoutFiles: true,
  };
  const usual = usualCompaction(parts.gauge.thresholds, kept);
  return { ...usual, outputTokens: parts.pace.summaryTokens ?? usual.outputTokens };
}
