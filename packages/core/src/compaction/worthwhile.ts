import type { LonghaulError } from "../messages/errors.ts";
import { formatCount } from "../messages/text.ts";
import { type CompactionPlan, type PlanOptions, unchangedTokens } from "./plan/compaction-plan.ts";
import type { SummaryInstructions } from "./summary/summary-prompt.ts";
import { AttemptedError, type SummaryAttempt } from "./write/attempts.ts";

/**
 * The smallest saving that makes a compaction worthwhile. A saving must reach both figures. If a compaction
 * saves less, it removes facts from the context for nothing.
 */
export const SMALLEST_WORTHWHILE_SAVING: { readonly share: number; readonly tokens: number } = Object.freeze({
  /**
   * Smallest saving as a share of the message tokens that the provider must cache again. A cache write costs
   * about 1.25 times the input price, and a cache read costs 0.1 times that price. So each token that stays
   * costs 1.15 times that price more in the next call. Each dropped token saves 0.1 times that price per
   * call. At a share of one fifth, the compaction has paid for itself after 46 calls. At one tenth, this
   * takes 104 calls.
   */
  share: 0.2,
  /**
   * Smallest saving in tokens. Even a short summary takes about 600 output tokens. They cost as much as
   * 30,000 tokens read from the cache, or 30 calls at this saving.
   */
  tokens: 1_000,
});

/**
 * Saving that a compaction requires.
 * - `worthwhile`: {@link SMALLEST_WORTHWHILE_SAVING}.
 * - `some`: one token. The last call did not fit, so every token counts.
 * - `none`: nothing. The user insists.
 */
export type LeastSaving = "worthwhile" | "some" | "none";

/** Returns true if the user insists on the compaction, with `force` or with instructions for the summary. */
export function isForced(wish: Pick<PlanOptions, "force"> & SummaryInstructions): boolean {
  return wish.force === true || Boolean(wish.instructions?.trim());
}

/** The saving of a compaction, in tokens of the context. */
export interface Saving {
  readonly tokens: number;
  /** {@link SMALLEST_WORTHWHILE_SAVING} for this conversation. */
  readonly smallestWorthwhile: number;
  readonly pays: boolean;
}

type Sizes = Pick<CompactionPlan, "estimateBefore" | "overheadTokens" | "keptPlace" | "keptTokens">;

/**
 * Returns the required saving in tokens. Messages before the summary stay in the provider's cache, so they do
 * not count.
 */
export function smallestWorthwhileSaving(plan: Sizes): number {
  const { share, tokens } = SMALLEST_WORTHWHILE_SAVING;
  return Math.max(tokens, Math.ceil((plan.estimateBefore - unchangedTokens(plan)) * share));
}

/**
 * Returns the saving. Both sizes are our estimates. If the size before the compaction were a reported size
 * and too low, every saving would look too small.
 */
export function savingOf(plan: Sizes, tokensAfter: number): Saving {
  const tokens = plan.estimateBefore - tokensAfter;
  const smallestWorthwhile = smallestWorthwhileSaving(plan);
  return { tokens, smallestWorthwhile, pays: tokens >= smallestWorthwhile };
}

/** Throws `compaction-ineffective` if the saving is smaller than required. */
export function requireSaving(
  plan: CompactionPlan,
  { tokensAfter, least }: { readonly tokensAfter: number; readonly least: LeastSaving },
  attempts: readonly SummaryAttempt[],
): void {
  const saving = savingOf(plan, tokensAfter);
  if (least === "none" || (least === "some" ? saving.tokens > 0 : saving.pays)) return;
  const smallestWorthwhile = least === "some" ? 1 : saving.smallestWorthwhile;
  const sizes = { before: plan.estimateBefore, after: tokensAfter };
  throw ineffective(sizes, { ...saving, smallestWorthwhile }, attempts);
}

function ineffective(
  { before, after }: { readonly before: number; readonly after: number },
  { tokens: saved, smallestWorthwhile }: Saving,
  attempts: readonly SummaryAttempt[],
): LonghaulError {
  // If no summary was requested, the saving is computed with an empty summary, so it is the largest possible
  // saving.
  const most = attempts.length === 0 ? " at most" : "";
  const result =
    saved > 0
      ? `save${most} ${formatCount(saved)} of ${formatCount(before)} tokens`
      : `not make the conversation smaller (${formatCount(before)} tokens before, ${formatCount(after)} after)`;
  const least = formatCount(smallestWorthwhile);
  const message = `Compacting does not pay: it would ${result}, and the smallest worthwhile saving is ${least}.`;
  return new AttemptedError("compaction-ineffective", message, attempts, {
    remedy: "Nothing was changed. Continue the session, keep fewer recent tokens, or force the compaction.",
    facts: { before, after, saved, smallestWorthwhile },
  });
}
