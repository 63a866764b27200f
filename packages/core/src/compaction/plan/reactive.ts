import { previousSoundCut, soundCuts } from "../../messages/pairs.ts";
import type { ModelFailure } from "../../models/model-error.ts";
import { SUMMARY_BUDGET_TOKENS } from "../summary/summary-budget.ts";
import { cutForRecent, firstAfterSummary } from "./choose-cut.ts";
import {
  type CompactionPlan,
  isWorthSummarizing,
  type PlanOptions,
  planAt,
  unseenCut,
} from "./compaction-plan.ts";
import { type KeptRoom, roomBesideSummary } from "./room.ts";
import { shortenToFit, withOldMediaAsMarks } from "./shrink-messages.ts";
import {
  measureConversation,
  type SizedConversation,
  type SizeOptions,
  type Snapshot,
  sum,
} from "./sized.ts";

/**
 * Share of the prompt to remove if the error states no figures. There is only one attempt, so the share is
 * large.
 */
const BLIND_SHARE = 0.2;

/** Maximum share of the error's limit for the next prompt. The answer and the next turns need the rest. */
const LIMIT_SHARE = 0.8;

/**
 * Largest factor by which our count is scaled. A larger factor means that the request contains something that
 * longhaul does not see.
 */
const LARGEST_SCALE = 4;

/** Largest factor by which we assume that our count is too low. A larger difference has another reason. */
const LARGEST_UNDERCOUNT = 2;

/**
 * Limits after a 413, which states no limit. The smallest known limit of any provider is 20 MB for the whole
 * request.
 */
const LIMITS_AFTER_TOO_LARGE = { maxBytes: 5_000_000 };

export interface ReactiveOptions extends SizeOptions, Pick<PlanOptions, "limitTokens"> {
  /** Reason why the call failed. */
  readonly failure: ModelFailure;
  /** Size that the result should stay below. */
  readonly targetTokens: number;
  /** Maximum of recent tokens to keep. By default, half of the tokens that the summary leaves free. */
  readonly keepRecentTokens?: number | undefined;
  /** The provider's tokens per token of our estimate, as usual for this model. */
  readonly usualRatio?: number | undefined;
  /**
   * Tokens that the request allows the provider to leave out of the prompt, by our count. The size in the
   * error does not include these tokens.
   */
  readonly leftOutTokens?: number | undefined;
}

/**
 * Plans a compaction after a request that was too long. It summarizes as many of the oldest rounds as
 * necessary and keeps the newest rounds that fit. All counts follow the provider's error as far as possible,
 * so that the next request fits. If not even the newest round fits, its long texts are cut to head and tail.
 */
export function planReactive(snapshot: Snapshot, options: ReactiveOptions): CompactionPlan {
  const sized = asProviderCounts(measureConversation(snapshot, options), options);
  const { keepTokens, room } = roomForRecent(sized, options);
  const wish = { keepTokens, mostTokens: keepTokens };
  const cut = Math.min(cutForRecent(sized.entries, sized.tokens, wish), unseenCut(sized));
  const isAnythingKept = sized.entries.slice(cut).some(isWorthSummarizing);
  const shortened = isAnythingKept ? undefined : planWithShortTail(sized, keepTokens);
  // The earlier summary itself may be too long, so it is summarized again even without other messages.
  const plan = shortened ?? planAt(sized, { trigger: "auto", variant: "whole", cut, force: true, room });
  return options.failure.kind === "too-large" ? withFewMedia(plan) : plan;
}

/** Scales our counts. After that, the messages that the provider counted add up to the size in the error. */
function asProviderCounts(sized: SizedConversation, given: ReactiveOptions): SizedConversation {
  const leftOutTokens = provenOmittedTokens(sized, given);
  const options = { ...given, leftOutTokens };
  // The last usage may already exclude the left-out tokens, so only the sum of the counted parts is reliable.
  const counted = leftOutTokens > 0 ? partsCounted(sized, options) : sized.contextTokens;
  const stated = statedTokens(counted, options);
  const wanted = Math.min(stated / Math.max(1, counted), scaleOfParts(sized, options));
  // A proxy may state too few tokens. No provider counts far fewer tokens than our estimate before
  // calibration.
  const smallest = Math.min(1, 1 / sized.ratio);
  const scale = Math.min(LARGEST_SCALE, Math.max(smallest, wanted));
  const tokens = sized.tokens.map((count) => count * scale);
  const trueTokens = Math.round(stated + leftOutTokens * scale);
  const overheadTokens = Math.round(Math.max(sized.overheadTokens * scale, trueTokens - sum(tokens)));
  return { ...sized, tokens, overheadTokens, contextTokens: trueTokens, ratio: sized.ratio * scale };
}

/**
 * Returns the scale of the message tokens. Wrong usage reports may have made the ratio too high. If so, our
 * count of the messages is larger than the whole prompt in the error. In that case the messages count with
 * the model's usual ratio, or with a higher one if the stated size allows it.
 */
function scaleOfParts(sized: SizedConversation, options: ReactiveOptions): number {
  const { failure, usualRatio = 1 } = options;
  if (!isStated(failure)) return Number.POSITIVE_INFINITY;
  const stated = statedTokens(sized.contextTokens, { failure, targetTokens: 0 });
  const scale = stated / Math.max(1, partsCounted(sized, options));
  return scale < 1 ? Math.max(scale, Math.min(1, usualRatio / sized.ratio)) : Number.POSITIVE_INFINITY;
}

/**
 * Returns the tokens that the provider has certainly left out. If the host sent the request without our
 * edits, the provider left out fewer tokens than the edits would remove. In that case the size in the error
 * is far above our count of the remaining tokens. This check scales the count to the model's usual ratio if
 * the current ratio is lower, because wrong usage reports may have lowered it.
 */
function provenOmittedTokens(sized: SizedConversation, options: ReactiveOptions): number {
  const { leftOutTokens = 0, usualRatio = 1 } = options;
  if (leftOutTokens === 0) return 0;
  const left = partsCounted(sized, options);
  const stated = statedTokens(left, options);
  const largest = left * Math.max(1, usualRatio / sized.ratio) * LARGEST_UNDERCOUNT;
  if (stated <= largest) return leftOutTokens;
  return Math.max(0, left + leftOutTokens - stated);
}

/** Returns the sum of all parts of the prompt that the provider counted. */
const partsCounted = (
  { overheadTokens, tokens }: SizedConversation,
  { leftOutTokens = 0 }: ReactiveOptions,
): number => Math.max(0, overheadTokens + sum(tokens) - leftOutTokens);

/** Returns true if the error states the size of the prompt and not only a bound. */
const isStated = (failure: ModelFailure): boolean =>
  failure.kind === "too-long" && failure.isLowerBound !== true && isPositive(failure.tokens);

function statedTokens(counted: number, { failure, targetTokens }: ReactiveOptions): number {
  if (failure.kind !== "too-long") return counted;
  const { tokens, outputTokens = 0, isLowerBound } = failure;
  const promptTokens = tokens && tokens - outputTokens;
  if (isPositive(promptTokens)) return isLowerBound ? Math.max(counted, promptTokens) : promptTokens;
  if (isPositive(failure.limit)) return Math.max(counted, failure.limit + 1);
  return Math.max(counted, targetTokens) / (1 - BLIND_SHARE);
}

/**
 * Returns the tokens for recent messages. These are half of the tokens that the summary leaves free. The
 * other half is for restored content and the next turns. An unseen tool result may use both halves.
 */
function roomForRecent(
  sized: SizedConversation,
  options: ReactiveOptions,
): { readonly keepTokens: number; readonly room: KeptRoom } {
  const { failure, targetTokens, limitTokens, keepRecentTokens = Number.POSITIVE_INFINITY } = options;
  const { overheadTokens } = sized;
  const stated = promptLimit(failure);
  const target = Math.min(stated, targetTokens);
  const { preferredTokens, mostTokens } = roomBesideSummary({
    targetTokens: target,
    limitTokens: Math.min(stated, limitTokens ?? targetTokens),
    overheadTokens,
  });
  const left = target - overheadTokens;
  const forSummary = Math.min(SUMMARY_BUDGET_TOKENS, left / 2);
  // The conversation that failed must not be kept whole.
  const most = sum(sized.tokens) * (1 - BLIND_SHARE);
  return {
    keepTokens: Math.floor(Math.max(0, Math.min((left - forSummary) / 2, keepRecentTokens, most))),
    room: {
      preferredTokens: Math.floor(Math.min(preferredTokens, most)),
      mostTokens: Math.floor(Math.min(mostTokens, most)),
    },
  };
}

/**
 * Returns the maximum tokens of the next prompt according to the error. If the error states no limit, returns
 * Infinity. The next call requests the same output again, so the output tokens are not available for the
 * prompt. The prompt can always use half of the window.
 */
export function promptLimit(failure: ModelFailure): number {
  if (failure.kind !== "too-long" || !isPositive(failure.limit)) return Number.POSITIVE_INFINITY;
  const { limit, outputTokens = 0 } = failure;
  return Math.max(limit - outputTokens, limit / 2) * LIMIT_SHARE;
}

/**
 * Returns a plan that keeps only the newest round of messages and shortens its long texts. Returns undefined
 * if that does not help.
 */
function planWithShortTail(sized: SizedConversation, keepTokens: number): CompactionPlan | undefined {
  const { entries } = sized;
  const cut = previousSoundCut(soundCuts(entries), entries.findLastIndex(isWorthSummarizing));
  if (cut < firstAfterSummary(entries) || !entries.slice(0, Math.max(0, cut)).some(isWorthSummarizing))
    return undefined;
  const plan = planAt(sized, { trigger: "auto", variant: "whole", cut });
  const shortened = shortenToFit(plan.kept, keepTokens, plan.countTokens);
  if (shortened === undefined) return undefined;
  const isKeptRewritten = plan.isKeptRewritten || shortened.entries !== plan.kept;
  return {
    ...plan,
    kept: shortened.entries,
    keptTokens: plan.countEntries(shortened.entries),
    isKeptRewritten,
  };
}

function withFewMedia(plan: CompactionPlan): CompactionPlan {
  const kept = withOldMediaAsMarks(plan.kept, LIMITS_AFTER_TOO_LARGE);
  if (kept === plan.kept) return plan;
  const entries = plan.unseen && withOldMediaAsMarks(plan.unseen.entries, LIMITS_AFTER_TOO_LARGE);
  const unseen = plan.unseen && entries && { ...plan.unseen, entries, isKeptRewritten: true };
  return { ...plan, kept, keptTokens: plan.countEntries(kept), isKeptRewritten: true, unseen };
}

const isPositive = (value: number | undefined): value is number => value !== undefined && value > 0;
