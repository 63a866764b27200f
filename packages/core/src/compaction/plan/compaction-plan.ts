import { type CountText, measureContent } from "../../measure/tokens/measure.ts";
import { type Entry, isCompactBoundary, isSummaryEntry } from "../../messages/entry.ts";
import { LonghaulError } from "../../messages/errors.ts";
import type { ShortenedResult } from "../../messages/fact-ledger.ts";
import type { MessageContent } from "../../messages/message.ts";
import { previousSoundCut, soundCuts } from "../../messages/pairs.ts";
import { requireApiMessages } from "../../messages/require-messages.ts";
import { firstUnseenIndex } from "../../messages/responses.ts";
import { withClearedResults } from "../../messages/stand-ins.ts";
import { SUMMARY_BUDGET_TOKENS } from "../summary/builtin/budget.ts";
import type { SummaryVariant } from "../summary/summary-message.ts";
import {
  cutForRecent,
  cutFrom,
  cutUpTo,
  firstAfterSummary,
  locateMessage,
  type MessageRef,
  messageNotFound,
  type RecentWish,
} from "./choose-cut.ts";
import {
  defaultKeepRecent,
  type KeptRoom,
  LEAST_RESTORE_SHARE,
  LEAST_RESTORE_TOKENS,
  roomBesideSummary,
  SMALLEST_SUMMARY_TOKENS,
} from "./room.ts";
import { shortenResults } from "./shrink-messages.ts";
import { type SizedConversation, type SizeOptions, type Snapshot, sizeUp, sum } from "./sized.ts";

/** How far the wish may be passed for a call with its result: a file just read stays, a log of 100 pages does not. */
const KEEP_OVERSHOOT = 2;

export interface PlanOptions extends SizeOptions {
  readonly trigger?: "manual" | "auto";
  /**
   * - `whole` (default): all but the newest messages is summarized.
   * - `from`: the picked message and all after it are summarized; what came before stays as it is, an earlier
   *   summary included, so that the provider's cache of it stays valid.
   * - `up-to`: what came before the picked message is summarized; it and all after it are kept.
   *
   * A call whose results no model has seen stays with them, in every variant. The cut moves back where it would part a
   * call from its result; with `up-to` it moves on past an earlier summary, which is never kept as it is.
   */
  readonly variant?: SummaryVariant | undefined;
  /** The message that the user picked, for `from` and `up-to`. */
  readonly at?: MessageRef | undefined;
  /** By default 10,000, less where the target is small, and at most a quarter of the conversation. */
  readonly keepRecentTokens?: number | undefined;
  /** Replaces the default of 10,000; the quarter still applies. */
  readonly usualKeepRecentTokens?: number | undefined;
  /** Summarize whatever there is, even if that is only an earlier summary. */
  readonly force?: boolean | undefined;
  /** Size that the result should stay below. */
  readonly targetTokens?: number | undefined;
  /** Limit for a result whose unseen tool results would lose too much otherwise. The target by default. */
  readonly limitTokens?: number | undefined;
}

/** A decision as data: what would be summarized and what kept, with the tokens of each. */
export interface CompactionPlan
  extends Pick<
    SizedConversation,
    "entries" | "sent" | "pairs" | "source" | "overheadTokens" | "tokensSent" | "clearedToolUseIds"
  > {
  readonly trigger: "manual" | "auto";
  readonly variant: SummaryVariant;
  readonly tokensBefore: number;
  /** The same by the estimate that also counts the result: only these two can be compared. */
  readonly estimateBefore: number;
  readonly summarized: readonly Entry[];
  readonly summarizedTokens: number;
  readonly kept: readonly Entry[];
  readonly keptTokens: number;
  /** Place of the kept messages: before the summary or after it. */
  readonly keptPlace: "before" | "after";
  /**
   * With the variant `from`, messages that follow the summary: the newest call and its results, which no model has seen.
   * With other variants these are the last of the kept messages.
   */
  readonly pending: readonly Entry[];
  readonly pendingTokens: number;
  /** The newest call with its unseen results and all that follows, as it was sent; undefined where all was seen. */
  readonly unseen: UnseenPart | undefined;
  /** True if a kept message differs from the conversation: shortened, cleared, or with media as marks. */
  readonly isKeptRewritten: boolean;
  /** The provider's tokens per token of our estimate, as its reports have taught us. */
  readonly tokenRatio: number;
  /** Tokens of a text as the provider would count them, rounded up: parts never add up to less than the whole. */
  readonly countTokens: CountText;
  /**
   * Tokens of entries, and of contents that are in no entry yet, as the provider would count them. Only the sum is
   * rounded, as in the count of a loaded session.
   */
  countEntries(entries: readonly Entry[], contents?: readonly MessageContent[]): number;
}

interface UnseenPart {
  readonly entries: readonly Entry[];
  /** Results of which a part was left out. */
  readonly shortened: readonly ShortenedResult[];
  /** True if the transcript has them whole. */
  readonly isRecorded: boolean;
  /** True if a kept message differed from the conversation before any of these was shortened. */
  readonly isKeptRewritten: boolean;
}

/** Tokens at the start of the context that stay as the provider has them in its cache. */
export function unchangedTokens(
  plan: Pick<CompactionPlan, "overheadTokens" | "keptTokens" | "keptPlace">,
): number {
  return plan.overheadTokens + (plan.keptPlace === "before" ? plan.keptTokens : 0);
}

/** Plans a compaction of the whole conversation, or of the part that the options choose. */
export function planCompaction(snapshot: Snapshot, options: PlanOptions = {}): CompactionPlan {
  requireApiMessages(snapshot.entries);
  const sized = sizeUp(snapshot, options);
  const { variant = "whole", trigger = "manual", force, targetTokens, limitTokens } = options;
  const { entries, tokens, overheadTokens } = sized;
  const cut =
    variant === "whole"
      ? cutForRecent(entries, tokens, recentWish(sized, options))
      : cutAt(entries, options.at, variant);
  const room =
    targetTokens === undefined ? undefined : roomBesideSummary({ targetTokens, limitTokens, overheadTokens });
  return planAt(sized, { trigger, variant, cut, force, room });
}

/** Room for the summary and for the conversation to go on comes before a tail that is larger than was wished. */
function recentWish(sized: SizedConversation, options: PlanOptions): RecentWish {
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
 * The result of a compaction should be well below the threshold, or the next one is due at once: restored content
 * would fill a small window.
 */
export const RESULT_SHARE = 0.6;

export interface FittingPlan {
  readonly plan: CompactionPlan;
  readonly targetTokens: number;
  readonly restoreBudgetTokens: number;
}

interface PlanUnderOptions extends SizeOptions, Pick<PlanOptions, "keepRecentTokens" | "limitTokens"> {
  readonly thresholdTokens: number;
  /** By how much the result will be taken for larger than it is, where nobody reports its size. */
  readonly padding?: number;
}

/** A plan whose result gets under the threshold; else what there is at least, whatever is done. */
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
    // A result that no model has seen stays whole as long as there is room for it at all.
    if ((found.plan.unseen?.shortened.length ?? 0) === 0) break;
  }
  return { ...found, floorTokens };
}

/** All that is ever put back: 50,000 tokens of files and 25,000 of skills, the rest is small beside them. */
const RESTORE_WISH_TOKENS = 75_000;

/** Wishes for the result of a compaction, in tokens as the provider counts them. */
export interface ResultWishes extends SizeOptions {
  /** Size that the result must stay below. */
  readonly targetTokens: number;
  /** By default as a plan has it. */
  readonly keepRecentTokens?: number | undefined;
  /** As large as the summary usually becomes. */
  readonly summaryTokens?: number | undefined;
  /** For everything that is put back. */
  readonly restoreBudgetTokens?: number | undefined;
}

/** `floorTokens` is what there is at least after any compaction. */
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
 * Tells if a compaction can get under the target, and which wishes it can grant. Restored content shrinks first, since
 * the agent can fetch most of it again. Then the kept messages and the summary share what is left: an agent that never
 * saw the result it has just asked for would ask again.
 */
export function fitToTarget(snapshot: Snapshot, wishes: ResultWishes): Feasibility {
  const { overheadTokens, tokens } = sizeUp(snapshot, wishes);
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
  const restoreWish = wishes.restoreBudgetTokens ?? RESTORE_WISH_TOKENS;
  const restoreBase = grant(Math.min(restoreWish, LEAST_RESTORE_TOKENS, room * LEAST_RESTORE_SHARE));
  const summaryTokens = grant(Math.min(wantedSummary, Math.max(SMALLEST_SUMMARY_TOKENS, left / 2)));
  const limits = { targetTokens: wishes.targetTokens, conversationTokens: sum(tokens) };
  const keepRecentTokens = grant(wishes.keepRecentTokens ?? defaultKeepRecent(limits));
  const restoreBudgetTokens = restoreBase + grant(restoreWish - restoreBase);
  return { feasible: true, floorTokens, summaryTokens, keepRecentTokens, restoreBudgetTokens };
}

/** Ids of what a summary stands for, in their order. */
export const idsOf = (entries: readonly Entry[]): readonly (string | undefined)[] =>
  entries.map(({ uuid }) => uuid);

/**
 * The plan by which a summary that was written earlier takes the place of the messages it stands for: all that came
 * since is kept. Undefined where these no longer stand at the beginning as they did. Also where a result among them is
 * unseen now, because the host took the response after it back, and nothing before that call is left to replace.
 */
export function planFromPrepared(
  snapshot: Snapshot,
  ids: readonly (string | undefined)[],
  options: SizeOptions,
): CompactionPlan | undefined {
  const sized = sizeUp(snapshot, options);
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
  /** Unseen results are shortened for it. */
  readonly room?: KeptRoom | undefined;
}

const ENDLESS: KeptRoom = { wishTokens: Number.POSITIVE_INFINITY, mostTokens: Number.POSITIVE_INFINITY };

/**
 * The plan that cuts the conversation there. A call whose results no model has seen is kept with all that follows it,
 * wherever the cut is.
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
  const isTooLong = unseenAt < entries.length && tokensOf(unseenAt) > room.wishTokens;
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

/** Index of the newest call whose results no model has seen; the number of entries where all were seen. */
export function unseenCut({ entries, pairs }: SizedConversation): number {
  const at = firstUnseenIndex(entries);
  if (at === entries.length) return at;
  return Math.max(previousSoundCut(soundCuts(entries, pairs()), at), firstAfterSummary(entries));
}

/** Other recent messages give way before an unseen result is shortened, unless the user chose to keep them. */
function cutBesideUnseen(
  { tokens }: SizedConversation,
  { cut, variant, room = ENDLESS }: PlannedCut,
  unseenAt: number,
): number {
  if (variant === "from" || unseenAt === tokens.length) return cut;
  const isTooLong = variant === "whole" && sum(tokens.slice(cut)) > room.wishTokens;
  return isTooLong ? unseenAt : Math.min(cut, unseenAt);
}

/** The plan with unseen results shortened as far as the room for messages beside the summary asks for it. */
export function fitUnseen(plan: CompactionPlan, room: KeptRoom): CompactionPlan {
  const { unseen, keptPlace, countTokens } = plan;
  if (unseen === undefined) return plan;
  const isFrom = keptPlace === "before";
  const others = isFrom ? [] : plan.kept.slice(0, plan.kept.length - unseen.entries.length);
  const othersTokens = isFrom ? plan.keptTokens : plan.countEntries(others);
  const { entries, shortened } = shortenResults(unseen.entries, {
    roomTokens: room.wishTokens - othersTokens,
    mostTokens: room.mostTokens - othersTokens,
    // If other messages leave too little room, another compaction has to follow.
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

/** Nothing is gained by a summary of a summary alone. */
export const isWorthSummarizing = (entry: Entry): boolean => isMessage(entry) && !isSummaryEntry(entry);

const isMessage = (entry: Entry): boolean => entry.type === "assistant" || entry.type === "user";

const TOO_LITTLE: Readonly<Record<SummaryVariant, readonly [why: string, remedy: string]>> = {
  whole: [
    "all of them would stay as they are",
    "Keep fewer recent tokens, or continue the session and compact later.",
  ],
  from: ["nothing from that message on is long enough for a summary", "Choose an earlier message."],
  "up-to": ["nothing before that message is long enough for a summary", "Choose a later message."],
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
