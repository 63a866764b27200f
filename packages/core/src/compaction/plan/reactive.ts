import { previousSoundCut, soundCuts } from "../../messages/pairs.ts";
import type { ModelFailure } from "../../models/model-error.ts";
import { SUMMARY_BUDGET_TOKENS } from "../summary/builtin/budget.ts";
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
import { type SizedConversation, type SizeOptions, type Snapshot, sizeUp, sum } from "./sized.ts";

/** There is one attempt only, so where the error names no figures this share is taken off for what we do not know. */
const BLIND_SHARE = 0.2;

/** Of the limit that the error names, so much at most is used: the answer and the next turns need the rest. */
const LIMIT_SHARE = 0.8;

/** Beyond this it is not our counting that is wrong, but something is sent that we do not see. */
const LARGEST_SCALE = 4;

/** Our count is never below half of the truth. A figure that says so has another reason. */
const LARGEST_UNDERCOUNT = 2;

/** A 413 does not say how large is too large; the smallest limit known of any provider is 20 MB for everything. */
const LIMITS_AFTER_TOO_LARGE = { maxBytes: 5_000_000 };

export interface ReactiveOptions extends SizeOptions, Pick<PlanOptions, "limitTokens"> {
  /** Why the call failed. */
  readonly failure: ModelFailure;
  /** Size that the result should stay below. */
  readonly targetTokens: number;
  /** At most so much of the newest is kept; by default as much as leaves room for the rest. */
  readonly keepRecentTokens?: number | undefined;
  /** The provider's tokens per token of our estimate, as they are usual for the model. */
  readonly usualRatio?: number | undefined;
  /** Tokens of our count that the request lets the provider leave out of the prompt: the error does not state them. */
  readonly leftOutTokens?: number | undefined;
}

/**
 * The plan after a call that was too long: the oldest rounds are summarized, as many as it takes, and the newest
 * kept where they fit. All counts are those of the provider, as far as its error tells them, so that the next
 * call fits. Where not even the newest round fits, its long texts are cut down to head and tail.
 */
export function planReactive(snapshot: Snapshot, options: ReactiveOptions): CompactionPlan {
  const sized = asProviderCounts(sizeUp(snapshot, options), options);
  const { keepTokens, room } = roomForRecent(sized, options);
  const wish = { keepTokens, mostTokens: keepTokens };
  const cut = Math.min(cutForRecent(sized.entries, sized.tokens, wish), unseenCut(sized));
  const isAnythingKept = sized.entries.slice(cut).some(isWorthSummarizing);
  const shortened = isAnythingKept ? undefined : planWithShortTail(sized, keepTokens);
  // An earlier summary may be what is too long, so it is summarized again even if no other message is.
  const plan = shortened ?? planAt(sized, { trigger: "auto", variant: "whole", cut, force: true, room });
  return options.failure.kind === "too-large" ? withFewMedia(plan) : plan;
}

/** The size that the error states is spread over the messages that the provider counted. */
function asProviderCounts(sized: SizedConversation, given: ReactiveOptions): SizedConversation {
  const leftOutTokens = leftOutIndeed(sized, given);
  const options = { ...given, leftOutTokens };
  // The last usage may be without them already, so only the parts tell what is left.
  const counted = leftOutTokens > 0 ? partsCounted(sized, options) : sized.contextTokens;
  const told = tokensTold(counted, options);
  const wanted = Math.min(told / Math.max(1, counted), scaleOfParts(sized, options));
  // A proxy may state too few tokens. No provider counts far fewer than our estimate before its calibration.
  const smallest = Math.min(1, 1 / sized.ratio);
  const scale = Math.min(LARGEST_SCALE, Math.max(smallest, wanted));
  const tokens = sized.tokens.map((count) => count * scale);
  const trueTokens = Math.round(told + leftOutTokens * scale);
  const overheadTokens = Math.round(Math.max(sized.overheadTokens * scale, trueTokens - sum(tokens)));
  return { ...sized, tokens, overheadTokens, contextTokens: trueTokens, ratio: sized.ratio * scale };
}

/**
 * Wrong reports may have made the ratio too high, so that the messages have more tokens than the error states for the
 * whole prompt. Then they are counted as is usual for the model, or higher as far as the stated size allows.
 */
function scaleOfParts(sized: SizedConversation, options: ReactiveOptions): number {
  const { failure, usualRatio = 1 } = options;
  if (!isStated(failure)) return Number.POSITIVE_INFINITY;
  const stated = tokensTold(sized.contextTokens, { failure, targetTokens: 0 });
  const scale = stated / Math.max(1, partsCounted(sized, options));
  return scale < 1 ? Math.max(scale, Math.min(1, usualRatio / sized.ratio)) : Number.POSITIVE_INFINITY;
}

/**
 * The provider may have left out less: a host may send a request without the edits. Then the rest of our count is far
 * below the stated size. Wrong reports may have made the ratio too low, so the rest counts at least as is usual for the
 * model.
 */
function leftOutIndeed(sized: SizedConversation, options: ReactiveOptions): number {
  const { leftOutTokens = 0, usualRatio = 1 } = options;
  if (leftOutTokens === 0) return 0;
  const left = partsCounted(sized, options);
  const told = tokensTold(left, options);
  const largest = left * Math.max(1, usualRatio / sized.ratio) * LARGEST_UNDERCOUNT;
  if (told <= largest) return leftOutTokens;
  return Math.max(0, left + leftOutTokens - told);
}

/** The sum of all parts of the prompt that the provider counted. */
const partsCounted = (
  { overheadTokens, tokens }: SizedConversation,
  { leftOutTokens = 0 }: ReactiveOptions,
): number => Math.max(0, overheadTokens + sum(tokens) - leftOutTokens);

/** True if the error states the size of the prompt, and not only a bound. */
const isStated = (failure: ModelFailure): boolean =>
  failure.kind === "too-long" && failure.isLowerBound !== true && isPositive(failure.tokens);

function tokensTold(counted: number, { failure, targetTokens }: ReactiveOptions): number {
  if (failure.kind !== "too-long") return counted;
  const { tokens, outputTokens = 0, isLowerBound } = failure;
  const promptTokens = tokens && tokens - outputTokens;
  if (isPositive(promptTokens)) return isLowerBound ? Math.max(counted, promptTokens) : promptTokens;
  if (isPositive(failure.limit)) return Math.max(counted, failure.limit + 1);
  return Math.max(counted, targetTokens) / (1 - BLIND_SHARE);
}

/**
 * Half of what the summary leaves is for the newest messages, the rest for what is put back and for going on. A tool
 * result that no model has seen may take all of it.
 */
function roomForRecent(
  sized: SizedConversation,
  options: ReactiveOptions,
): { readonly keepTokens: number; readonly room: KeptRoom } {
  const { failure, targetTokens, limitTokens, keepRecentTokens = Number.POSITIVE_INFINITY } = options;
  const { overheadTokens } = sized;
  const stated = promptLimit(failure);
  const target = Math.min(stated, targetTokens);
  const { wishTokens, mostTokens } = roomBesideSummary({
    targetTokens: target,
    limitTokens: Math.min(stated, limitTokens ?? targetTokens),
    overheadTokens,
  });
  const left = target - overheadTokens;
  const forSummary = Math.min(SUMMARY_BUDGET_TOKENS, left / 2);
  // The conversation that failed must not come back whole.
  const most = sum(sized.tokens) * (1 - BLIND_SHARE);
  return {
    keepTokens: Math.floor(Math.max(0, Math.min((left - forSummary) / 2, keepRecentTokens, most))),
    room: {
      wishTokens: Math.floor(Math.min(wishTokens, most)),
      mostTokens: Math.floor(Math.min(mostTokens, most)),
    },
  };
}

/**
 * Tokens that the next prompt may have by the error; Infinity where it states no limit. The next call requests the same
 * output again, so that is no room for the prompt. Half of the window is in any case.
 */
export function promptLimit(failure: ModelFailure): number {
  if (failure.kind !== "too-long" || !isPositive(failure.limit)) return Number.POSITIVE_INFINITY;
  const { limit, outputTokens = 0 } = failure;
  return Math.max(limit - outputTokens, limit / 2) * LIMIT_SHARE;
}

/** The smallest tail that is a whole, with its long texts shortened; undefined where that does not help. */
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
