import type { WrittenSummary } from "../summary/chain.ts";
import type { SummaryVariant } from "../summary/sources.ts";

/** What kind of compaction it was: from notes, of the whole conversation, or of a part of it. */
export type CompactionTier = "memory" | "full" | "partial";

export interface TierFacts {
  readonly variant: SummaryVariant;
  readonly written: Pick<WrittenSummary, "source">;
}

/** By who wrote the summary in the end: where notes could not be used, it is one like any other. */
export function tierOf({ variant, written }: TierFacts): CompactionTier {
  if (written.source === "notes") return "memory";
  return variant === "whole" ? "full" : "partial";
}
