import { type CountText, measureContent } from "../../measure/tokens/measure.ts";
import { type Entry, isCompactBoundary, isSummaryEntry } from "../../messages/entry.ts";
import { LonghaulError } from "../../messages/errors.ts";
import type { ShortenedResult } from "../../messages/fact-ledger.ts";
import type { MessageContent } from "../../messages/message.ts";
import { previousSoundCut, soundCuts } from "../../messages/pairs.ts";
import { requireApiMessages } from "../../messages/require-messages.ts";
import { firstUnseenIndex } from "../../messages/responses.ts";
import { withClearedResults } from "../../messages/stand-ins.ts";
import { SUMMARY_BUDGET_TOKENS } from "../summary/summary-budget.ts";
import type { SummaryVariant } from "../summary/summary-message.ts";
import {
  cutForRecent,
  cutFrom,
  cutUpTo,
  firstAfterSummary,
  locateMessage,
  type MessageRef,
  messageNotFound,
  type RecentTarget,
} from "./choose-cut.ts";
import {
  defaultKeepRecent,
  type KeptRoom,
  MIN_RESTORE_SHARE,
  MIN_RESTORE_TOKENS,
  roomBesideSummary,
  SMALLEST_SUMMARY_TOKENS,
} from "./room.ts";
import { shortenResults } from "./shrink-messages.ts";
import {
  measureConversation,
  type SizedConversation,
  type SizeOptions,
  type Snapshot,
  sum,
} from "./sized.ts";

/**
 * Factor by which a call with its result may exceed the requested tokens. With this factor, a file just read
 * is kept, and a log of 100 pages is not.
 */
const KEEP_OVERSHOOT = 2;

export interface PlanOptions extends SizeOptions {
  readonly trigger?: "manual" | "auto";
  /**
   * - `whole` (default): summarizes all but the newest messages.
   * - `from`: summarizes the picked message and all later ones. Earlier messages and an earlier summary stay
   *   unchanged, so that the provider's cache of them stays valid.
   * - `up-to`: summarizes the messages before the picked one, and keeps it and all later ones.
   *
   * Every variant keeps a call together with its unseen results. The cut moves back if it would split a call
   * from its result. With `up-to`, the cut moves past a leading summary, which is never kept.
   */
  readonly variant?: SummaryVariant | undefined;
  /** The message that the user picked, for `from` and `up-to`. */
  readonly at?: MessageRef | undefined;
  /**
   * Recent tokens to keep. The default is 10,000, or less for a small target. The default is never more than
   * a quarter of the conversation.
   */
  readonly keepRecentTokens?: number | undefined;
  /** Replaces the default of 10,000 tokens. The limit of a quarter of the conversation still applies. */
  readonly usualKeepRecentTokens?: number | undefined;
  /** Summarizes everything available, even if that is only an earlier summary. */
  readonly force?: boolean | undefined;
  /** Size that the result should stay below. */
  readonly targetTokens?: number | undefined;
  /**
   * Size limit of the result. It replaces the target if unseen tool results would otherwise lose too much
   * text. Equal to the target by default.
   */
  readonly limitTokens?: number | undefined;
}

/** Plan of a compaction: the messages to summarize and to keep, with their tokens. */
export interface CompactionPlan
  extends Pick<
    SizedConversation,
    "entries" | "sent" | "pairs" | "source" | "overheadTokens" | "tokensSent" | "clearedToolUseIds"
  > {
  readonly trigger: "manual" | "auto";
  readonly variant: SummaryVariant;
  readonly tokensBefore: number;
  /**
   * Size before the compaction, by our estimate. The size of the result uses the same estimate, so compare
   * the result only with this figure.
   */
  readonly estimateBefore: number;
  readonly summarized: readonly Entry[];
  readonly summarizedTokens: number;
  readonly kept: readonly Entry[];
  readonly keptTokens: number;
  /** Place of the kept messages: before the summary or after it. */
  readonly keptPlace: "before" | "after";
  /**
   * Messages that follow the summary in the variant `from`: the newest call and its unseen results. Other
   * variants keep the newest call at the end of `kept`.
   */
  readonly pending: readonly Entry[];
  readonly pendingTokens: number;
  /**
   * The newest call with its unseen results and all later entries, as a request would contain them. Undefined
   * if the model has seen everything.
   */
  readonly unseen: UnseenPart | undefined;
  /**
   * True if a kept message differs from the conversation. It may be shortened or cleared, or it may have text
   * instead of media.
   */
  readonly isKeptRewritten: boolean;
  /** The provider's tokens per token of our estimate, learned from the provider's usage reports. */
  readonly tokenRatio: number;
  /**
   * Counts the tokens of a text as the provider would. The count is rounded up, so the counts of the parts
   * never add up to less than the count of the whole.
   */
  readonly countTokens: CountText;
  /**
   * Counts the tokens of entries as the provider would. `contents` are contents outside entries and count
   * too. Only the sum is rounded, as in the count of a loaded session.
   */
  countEntries(entries: readonly Entry[], contents?: readonly MessageContent[]): number;
}

interface UnseenPart {
  readonly entries: readonly Entry[];
  /** Results that were shortened. */
  readonly shortened: readonly ShortenedResult[];
  /** True if the transcript has the full results. */
  readonly isRecorded: boolean;
  /** True if a kept message differed from the conversation before any result was shortened. */
  readonly isKeptRewritten: boolean;
}

/** Returns the tokens at the start of the context that stay in the provider's cache. */
export function unchangedTokens(
  plan: Pick<CompactionPlan, "overheadTokens" | "keptTokens" | "keptPlace">,
): number {
  return plan.overheadTokens + (plan.keptPlace === "before" ? plan.keptTokens : 0);
}

/** Plans a compaction of the whole conversation, or of the part that the options choose. */
export function planCompaction(snapshot: Snapshot, options: PlanOptions = {}): CompactionPlan {
  requireApiMessages(snapshot.entries);
  const sized = measureConversation(snapshot, options);
  const { variant = "whole", trigger = "manual", force, targetTokens, limitTokens } = options;
  const { entries, tokens, overheadTokens } = sized;
  const cut =
    variant === "whole"
      ? cutForRecent(entries, tokens, recentTarget(sized, options))
      : cutAt(entries, options.at, variant);
  const room =
    targetTokens === undefined ? undefined : roomBesideSummary({ targetTokens, limitTokens, overheadTokens });
  return planAt(sized, { trigger, variant, cut, force, room });
}

/**
 * Returns how many tokens to keep. More tokens than requested are kept only if enough tokens remain for the
 * summary and the next turns.
 */
function recentTarget(sized: SizedConversation, options: PlanOptions): RecentTarget {
  const { targetTokens = Number.POSITIVE_INFINITY, usualKeepRecentTokens: usualTokens } = options;
  const limits = { targetTokens, conversationTokens: sum(sized.tokens), usualTokens };
  const keepTokens = options.keepRecentTokens ?? defaultKeepRecent(limits);
  const room = (targetTokens - sized.overheadTokens) / 2;
  return { keepTokens, mostTokens: Math.max(keepTokens, Math.min(keepTokens * KEEP_OVERSHOOT, room)) };
}

function cutAt(entries: readonly Entry[], at: MessageRef | undefined, variant: "from" | "up-to"): number {
  const picked = at === undefined ? undefined : locateMessage(entries, at);
  if (picked === undefined) throw messageNotFound(at);
  return variant === "from" ? cutFrom(entries, picked) : cutUpTo(entries, picked);
}

/**
 * Share of the threshold that the result of a compaction may reach. Without this limit, restored content
 * could fill a small window up to the threshold. Another compaction would follow at once.
 */
export const RESULT_SHARE = 0.6;

export interface FittingPlan {
  readonly plan: CompactionPlan;
  readonly targetTokens: number;
  readonly restoreBudgetTokens: number;
}

interface PlanUnderOptions extends SizeOptions, Pick<PlanOptions, "keepRecentTokens" | "limitTokens"> {
  readonly thresholdTokens: number;
  /** Factor by which a session overestimates the result while no usage is reported. */
  readonly padding?: number;
}

/**
 * Returns a plan whose result is below the threshold. If there is no such plan, returns only the size of the
 * smallest possible result.
 */
export function planUnder(
  snapshot: Snapshot,
  options: PlanUnderOptions,
): (FittingPlan & { readonly floorTokens: number }) | { readonly floorTokens: number } {
  const { thresholdTokens, padding = 1, ...rest } = options;
  const targets = [Math.floor((thresholdTokens * RESULT_SHARE) / padding), thresholdTokens];
  let floorTokens = 0;
  let found: FittingPlan | undefined;
  for (const targetTokens of targets) {
    const fit = fitToTarget(snapshot, { ...rest, targetTokens });
    floorTokens = fit.floorTokens;
    if (!fit.feasible) continue;
    const { keepRecentTokens, restoreBudgetTokens } = fit;
    const plan = planCompaction(snapshot, { ...rest, trigger: "auto", targetTokens, keepRecentTokens });
    found = { plan, targetTokens, restoreBudgetTokens };
    // Stop at the first target with which every unseen result stays whole. The second target has more room.
    if ((found.plan.unseen?.shortened.length ?? 0) === 0) break;
  }
  return { ...found, floorTokens };
}

/** Maximum of all restored content: 50,000 tokens of files and 25,000 of skills. Other content is small. */
const RESTORE_TARGET_TOKENS = 75_000;

/** Requested sizes for the result of a compaction, in the provider's tokens. */
export interface ResultTargets extends SizeOptions {
  /** Size that the result must stay below. */
  readonly targetTokens: number;
  /** Recent tokens to keep, by default the same as in {@link PlanOptions}. */
  readonly keepRecentTokens?: number | undefined;
  /** Expected size of the summary, by default its usual size. */
  readonly summaryTokens?: number | undefined;
  /** Budget for all restored content. */
  readonly restoreBudgetTokens?: number | undefined;
}

/** `floorTokens` is the smallest possible size after any compaction. */
export type Feasibility =
  | {
      readonly feasible: true;
      readonly floorTokens: number;
      readonly keepRecentTokens: number;
      readonly restoreBudgetTokens: number;
      readonly summaryTokens: number;
    }
  | { readonly feasible: false; readonly floorTokens: number };

/**
 * Returns whether a compaction can get below the target, and which sizes it can grant. Restored content
 * shrinks first, because the agent can fetch most of it again. The summary shrinks to make room for kept
 * messages. If an agent does not see the result of its last call, it repeats the call.
 */
export function fitToTarget(snapshot: Snapshot, wishes: ResultTargets): Feasibility {
  const { overheadTokens, tokens } = measureConversation(snapshot, wishes);
  const wantedSummary = wishes.summaryTokens ?? SUMMARY_BUDGET_TOKENS;
  const floorTokens = overheadTokens + Math.min(SMALLEST_SUMMARY_TOKENS, wantedSummary);
  if (!(floorTokens < wishes.targetTokens)) return { feasible: false, floorTokens };
  const room = wishes.targetTokens - overheadTokens - 1;
  let left = room;
  const grant = (wish: number): number => {
    const granted = Math.floor(Math.max(0, Math.min(wish, left)));
    left -= granted;
    return granted;
  };
  const restoreTarget = wishes.restoreBudgetTokens ?? RESTORE_TARGET_TOKENS;
  const restoreBase = grant(Math.min(restoreTarget, MIN_RESTORE_TOKENS, room * MIN_RESTORE_SHARE));
  const summaryTokens = grant(Math.min(wantedSummary, Math.max(SMALLEST_SUMMARY_TOKENS, left / 2)));
  const limits = { targetTokens: wishes.targetTokens, conversationTokens: sum(tokens) };
  const keepRecentTokens = grant(wishes.keepRecentTokens ?? defaultKeepRecent(limits));
  const restoreBudgetTokens = restoreBase + grant(restoreTarget - restoreBase);
  return { feasible: true, floorTokens, summaryTokens, keepRecentTokens, restoreBudgetTokens };
}

/** Returns the ids of summarized entries in their order. */
export const idsOf = (entries: readonly Entry[]): readonly (string | undefined)[] =>
  entries.map(({ uuid }) => uuid);

/**
 * Returns the plan of a compaction with a summary that was written earlier. The summary replaces the messages
 * with these ids, and all later messages are kept.
 *
 * Returns undefined if the conversation no longer starts with exactly these messages. A result becomes unseen
 * again when the host removes the response after the result. If one of these messages has such a result, the
 * plan keeps everything from its call on. Returns undefined if nothing before that call can be replaced.
 */
export function planFromPrepared(
  snapshot: Snapshot,
  ids: readonly (string | undefined)[],
  options: SizeOptions,
): CompactionPlan | undefined {
  const sized = measureConversation(snapshot, options);
  const isThere = ids.length > 0 && ids.every((id, at) => sized.entries[at]?.uuid === id);
  const replaced = sized.entries.slice(0, Math.min(ids.length, unseenCut(sized)));
  if (!isThere || !replaced.some(isWorthSummarizing)) return undefined;
  return planAt(sized, { trigger: "auto", variant: "whole", cut: ids.length });
}

interface PlannedCut {
  readonly trigger: "manual" | "auto";
  readonly variant: SummaryVariant;
  readonly cut: number;
  /** See {@link PlanOptions.force}. */
  readonly force?: boolean | undefined;
  /** Tokens to which unseen results are shortened. */
  readonly room?: KeptRoom | undefined;
}

const ENDLESS: KeptRoom = { preferredTokens: Number.POSITIVE_INFINITY, mostTokens: Number.POSITIVE_INFINITY };

/**
 * Returns the plan that cuts the conversation at this place. A call with unseen results is kept with all
 * later entries, wherever the cut is.
 */
export function planAt(sized: SizedConversation, planned: PlannedCut): CompactionPlan {
  const { trigger, variant, force = false, room = ENDLESS } = planned;
  const { entries, tokens, sent, pairs, source, overheadTokens, tokensSent, clearedToolUseIds } = sized;
  const unseenAt = unseenCut(sized);
  const tokensOf = (from: number, to?: number): number => Math.round(sum(tokens.slice(from, to)));
  const isFrom = variant === "from";
  const cut = cutBesideUnseen(sized, planned, unseenAt);
  const end = isFrom ? Math.max(cut, unseenAt) : entries.length;
  const summarized = isFrom ? entries.slice(cut, end) : entries.slice(0, cut);
  const isTooLong = unseenAt < entries.length && tokensOf(unseenAt) > room.preferredTokens;
  if (!summarized.some(force || isTooLong ? isMessage : isWorthSummarizing)) {
    throw notEnoughMessages(entries.length, variant);
  }
  const older = entries.slice(0, cut).filter((entry) => !isCompactBoundary(entry));
  const keptAsTheyAre = isFrom ? older : entries.slice(cut);
  const kept = withClearedResults(keptAsTheyAre, clearedToolUseIds);
  const isKeptRewritten = kept !== keptAsTheyAre;
  const unseen = withClearedResults(entries.slice(unseenAt), clearedToolUseIds);
  const { isRecorded } = sized;
  const plan: CompactionPlan = {
    trigger,
    variant,
    tokensBefore: sized.contextTokens,
    estimateBefore: overheadTokens + Math.round(sum(tokens)),
    source,
    overheadTokens,
    entries,
    sent,
    pairs,
    tokensSent,
    clearedToolUseIds,
    summarized,
    summarizedTokens: isFrom ? tokensOf(cut, end) : tokensOf(0, cut),
    kept,
    keptTokens: isFrom ? tokensOf(0, cut) : tokensOf(cut),
    keptPlace: isFrom ? "before" : "after",
    pending: isFrom ? unseen : [],
    pendingTokens: isFrom ? tokensOf(end) : 0,
    unseen: unseen.length === 0 ? undefined : { entries: unseen, shortened: [], isRecorded, isKeptRewritten },
    isKeptRewritten,
    ...counting(sized),
  };
  return fitUnseen(plan, room);
}

function counting({
  ratio,
  countText,
  estimateOf,
}: SizedConversation): Pick<CompactionPlan, "tokenRatio" | "countTokens" | "countEntries"> {
  return {
    tokenRatio: ratio,
    countTokens: (text) => Math.ceil(countText(text) * ratio),
    countEntries: (some, contents = []) => {
      const inContents = contents.map((content) => measureContent(content, countText));
      return Math.round((sum(some.map(estimateOf)) + sum(inContents)) * ratio);
    },
  };
}

/** Returns the index of the newest call with unseen results, or the number of entries if there is none. */
export function unseenCut({ entries, pairs }: SizedConversation): number {
  const at = firstUnseenIndex(entries);
  if (at === entries.length) return at;
  return Math.max(previousSoundCut(soundCuts(entries, pairs()), at), firstAfterSummary(entries));
}

/**
 * Moves the cut to make room for unseen results. Other recent messages are summarized before an unseen result
 * is shortened. If the user chose to keep these messages, they stay.
 */
function cutBesideUnseen(
  { tokens }: SizedConversation,
  { cut, variant, room = ENDLESS }: PlannedCut,
  unseenAt: number,
): number {
  if (variant === "from" || unseenAt === tokens.length) return cut;
  const isTooLong = variant === "whole" && sum(tokens.slice(cut)) > room.preferredTokens;
  return isTooLong ? unseenAt : Math.min(cut, unseenAt);
}

/** Returns the plan with unseen results shortened to the tokens that the summary leaves free. */
export function fitUnseen(plan: CompactionPlan, room: KeptRoom): CompactionPlan {
  const { unseen, keptPlace, countTokens } = plan;
  if (unseen === undefined) return plan;
  const isFrom = keptPlace === "before";
  const others = isFrom ? [] : plan.kept.slice(0, plan.kept.length - unseen.entries.length);
  const othersTokens = isFrom ? plan.keptTokens : plan.countEntries(others);
  const { entries, shortened } = shortenResults(unseen.entries, {
    roomTokens: room.preferredTokens - othersTokens,
    mostTokens: room.mostTokens - othersTokens,
    // The deepest cuts are a last resort. They are used only if no other messages are kept, because another
    // compaction could still remove other messages.
    isLastResort: othersTokens === 0,
    tokens: plan.countEntries(unseen.entries),
    countTokens,
    tokenRatio: plan.tokenRatio,
    isRecorded: unseen.isRecorded,
  });
  const [held, part] = [[...others, ...entries], { ...unseen, shortened }];
  if (entries === unseen.entries && unseen.shortened.length === 0) return plan;
  if (isFrom) return { ...plan, pending: held, pendingTokens: plan.countEntries(held), unseen: part };
  const isKeptRewritten = unseen.isKeptRewritten || entries !== unseen.entries;
  return { ...plan, kept: held, keptTokens: plan.countEntries(held), isKeptRewritten, unseen: part };
}

/** Returns true for a message that is not a summary. Summarizing a summary alone gains nothing. */
export const isWorthSummarizing = (entry: Entry): boolean => isMessage(entry) && !isSummaryEntry(entry);

const isMessage = (entry: Entry): boolean => entry.type === "assistant" || entry.type === "user";

const TOO_LITTLE: Readonly<Record<SummaryVariant, readonly [why: string, remedy: string]>> = {
  whole: [
    "all of them would stay as they are",
    "Keep fewer recent tokens, or continue the session and compact later.",
  ],
  from: ["that message and the messages after it contain nothing to summarize", "Choose an earlier message."],
  "up-to": ["the messages before that one contain nothing to summarize", "Choose a later message."],
};

function notEnoughMessages(entries: number, variant: SummaryVariant): LonghaulError {
  const [why, remedy] =
    entries === 0
      ? ["the session has no messages yet", "Use the session first and compact it later."]
      : TOO_LITTLE[variant];
  return new LonghaulError("not-enough-messages", `There are not enough messages to compact: ${why}.`, {
    remedy,
    facts: { entries },
  });
}
