import type { Clearing } from "./clearing.ts";
import type { ResultIndex } from "./result-index.ts";

/** What eligible results may hold: a fifth of the usual window. */
export const CLEARING_TARGET_TOKENS = 40_000;
/** Clearing breaks the prompt cache; for less than this it is not worth it. */
export const MINIMUM_SAVING_TOKENS = 20_000;
/** What the agent is working with right now. */
const KEPT_NEWEST_BY_SIZE = 3;

export interface BySizeOptions {
  readonly targetTokens?: number | undefined;
  readonly minimumSavingTokens?: number | undefined;
  readonly keepNewest?: number | undefined;
}

/** About what {@link chooseBySize} would save, told from running figures and the newest results alone. */
export function savingBySize(index: ResultIndex, options: BySizeOptions = {}): number {
  const { targetTokens = CLEARING_TARGET_TOKENS, keepNewest = KEPT_NEWEST_BY_SIZE } = options;
  const { eligibleTokens, activeCount, placeholderTokens } = index;
  const kept = index.keptCount(keepNewest);
  if (!(eligibleTokens > targetTokens) || activeCount <= kept) return 0;
  const newest = kept === 0 ? [] : index.results().slice(-kept);
  const safe = newest.reduce((sum, { tokens }) => sum + tokens, 0);
  const gone = eligibleTokens - Math.max(targetTokens, safe);
  return Math.max(0, gone - placeholderTokens * activeCount * (gone / eligibleTokens));
}

/** The oldest results, until the rest is within the target: one batch, so that the next is far off. */
export function chooseBySize(index: ResultIndex, options: BySizeOptions = {}): Clearing | undefined {
  const {
    targetTokens = CLEARING_TARGET_TOKENS,
    minimumSavingTokens = MINIMUM_SAVING_TOKENS,
    keepNewest = KEPT_NEWEST_BY_SIZE,
  } = options;
  const clearable = index.activeCount - index.keptCount(keepNewest);
  // Not `<=`, so that a target that is no figure leaves things alone.
  if (!(index.eligibleTokens > targetTokens) || !(clearable > 0)) return undefined;
  const results = index.results();
  let left = index.eligibleTokens;
  let count = 0;
  while (count < clearable && left > targetTokens) left -= results[count++]?.tokens ?? 0;
  const saved = index.eligibleTokens - left - count * index.placeholderTokens;
  return saved < minimumSavingTokens ? undefined : index.describe("size", results.slice(0, count));
}
