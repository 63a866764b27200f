import { inProportion } from "../window/in-proportion.ts";
import type { Thresholds } from "../window/thresholds.ts";

/** A summary of nine sections, as models write them. */
const SUMMARY_TOKENS = 6_000;
/** Of what may be put back, usually less than half of it is there. */
const RESTORED_TOKENS = 24_000;

/** What a compaction leaves, and what the model writes for it, as long as none has shown it. */
export function usualCompaction(
  thresholds: Pick<Thresholds, "size">,
  { overheadTokens, keptTokens }: { readonly overheadTokens: number; readonly keptTokens: number },
): { readonly tokensAfter: number; readonly outputTokens: number } {
  const rest = inProportion(thresholds, SUMMARY_TOKENS + RESTORED_TOKENS);
  return {
    tokensAfter: overheadTokens + keptTokens + rest,
    outputTokens: inProportion(thresholds, SUMMARY_TOKENS),
  };
}
