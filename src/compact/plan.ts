import type { MessageContent } from "../conversation/block.ts";
import { withClearedResults } from "../conversation/cleared.ts";
import { type Entry, isCompactBoundary } from "../conversation/entry.ts";
import { requireOwnShapes } from "../conversation/given-messages.ts";
import type { PairIndex } from "../conversation/pairs.ts";
import { isSummaryEntry } from "../conversation/summary-entry.ts";
import { LonghaulError } from "../errors.ts";
import type { SummaryVariant } from "../summary/sources.ts";
import type { KnownTokens } from "../tokens/accounting.ts";
import { type CountText, measureContent } from "../tokens/measure.ts";
import { cutForRecent, cutFrom, cutUpTo, type RecentWish } from "./choose-cut.ts";
import { defaultKeepRecent, shareToKeep } from "./keep-recent.ts";
import { locateMessage, type MessageRef, messageNotFound } from "./locate.ts";
import { type KnownMeasures, type SizedConversation, type Snapshot, sizeUp, sum } from "./sized.ts";

export type { Snapshot } from "./sized.ts";

/** How far the wish may be passed for a call with its result: a file just read stays, a log of 100 pages does not. */
const KEEP_OVERSHOOT = 2;

export interface PlanOptions {
  readonly trigger?: "manual" | "auto";
  /**
   * - `whole` (default): all but the newest messages is summarised.
   * - `from`: the picked message and all after it are summarised; what came before stays as it is, an earlier
   *   summary included, so that the provider's cache of it stays valid.
   * - `up-to`: what came before the picked message is summarised; it and all after it are kept.
   *
   * The cut moves back where it would part a call from its result; with `up-to` it moves on past an earlier
   * summary, which is never kept as it is.
   */
  readonly variant?: SummaryVariant | undefined;
  /** The message that the user picked, for `from` and `up-to`. */
  readonly at?: MessageRef | undefined;
  /** By default 10,000, less where the target is small, and at most a quarter of the conversation. */
  readonly keepRecentTokens?: number | undefined;
  /** Replaces the default of 10,000; the quarter still applies. */
  readonly usualKeepRecentTokens?: number | undefined;
  /** Summarise whatever there is, even if that is only an earlier summary. */
  readonly force?: boolean | undefined;
  /** What the result should stay below. */
  readonly targetTokens?: number | undefined;
  readonly countText?: CountText | undefined;
  /** What the host has counted already. */
  readonly measured?: KnownMeasures | undefined;
}

/** A decision as data: what would be summarised and what kept, with the tokens of each. */
export interface CompactionPlan {
  readonly trigger: "manual" | "auto";
  readonly variant: SummaryVariant;
  readonly tokensBefore: number;
  readonly source: "usage" | "estimate";
  /** What the host sends besides messages (system prompt, tools): in the count, but not in the entries. */
  readonly overheadTokens: number;
  /** The conversation from its last boundary on, in its order. */
  readonly entries: readonly Entry[];
  /** The same as they were sent: with the results that were cleared. */
  readonly sent: readonly Entry[];
  /** Calls and results among the entries: made when first asked for, and then shared. */
  readonly pairs: () => PairIndex;
  readonly summarised: readonly Entry[];
  readonly summarisedTokens: number;
  readonly kept: readonly Entry[];
  readonly keptTokens: number;
  /** Where the kept messages stand: before the summary or after it. */
  readonly keptPlace: "before" | "after";
  /** Whether a kept message is another than in the conversation: shortened, cleared, or with media as marks. */
  readonly isKeptRewritten: boolean;
  /** Results among the entries that are sent as cleared. */
  readonly clearedToolUseIds: ReadonlySet<string>;
  /** The provider's tokens per token of our estimate, as its reports have taught us. */
  readonly tokenRatio: number;
  /** Tokens of a text as the provider would count them, rounded up: parts never add up to less than the whole. */
  readonly countTokens: CountText;
  /**
   * Tokens of entries, and of contents that are in no entry yet, as the provider would count them. Only the sum is
   * rounded, as in the count of a loaded session.
   */
  countEntries(entries: readonly Entry[], contents?: readonly MessageContent[]): number;
  /** The same of what was sent, without counting it again; not rounded. */
  readonly tokensSent: KnownTokens;
}

/** Tokens at the start of the context that stay as the provider has them in its cache. */
export function unchangedTokens(
  plan: Pick<CompactionPlan, "overheadTokens" | "keptTokens" | "keptPlace">,
): number {
  return plan.overheadTokens + (plan.keptPlace === "before" ? plan.keptTokens : 0);
}

export function planCompaction(snapshot: Snapshot, options: PlanOptions = {}): CompactionPlan {
  requireOwnShapes(snapshot.entries);
  const sized = sizeUp(snapshot, options);
  const { variant = "whole", trigger = "manual", force = false } = options;
  const cut =
    variant === "whole"
      ? cutForRecent(sized.entries, sized.tokens, recentWish(sized, options))
      : partialCut(sized, options);
  return planAt(sized, { trigger, variant, cut, force });
}

export interface PlannedCut {
  readonly trigger: "manual" | "auto";
  readonly variant: SummaryVariant;
  readonly cut: number;
  /** See {@link PlanOptions.force}. */
  readonly force?: boolean;
}

/** The plan that cuts the conversation there. */
export function planAt(sized: SizedConversation, planned: PlannedCut): CompactionPlan {
  const { trigger, variant, cut, force = false } = planned;
  const { entries, tokens, ratio, countText, clearedToolUseIds } = sized;
  const [older, newer] = [entries.slice(0, cut), entries.slice(cut)];
  const [olderTokens, newerTokens] = [
    Math.round(sum(tokens.slice(0, cut))),
    Math.round(sum(tokens.slice(cut))),
  ];
  const isFrom = variant === "from";
  const summarised = isFrom ? newer : older;
  if (!summarised.some(force ? isMessage : isWorthSummarising)) {
    throw notEnoughMessages(entries.length, variant);
  }
  const keptAsTheyAre = isFrom ? older.filter((entry) => !isCompactBoundary(entry)) : newer;
  const kept = withClearedResults(keptAsTheyAre, clearedToolUseIds);
  return {
    trigger,
    variant,
    tokensBefore: sized.contextTokens,
    source: sized.source,
    overheadTokens: sized.overheadTokens,
    entries,
    sent: sized.sent,
    pairs: sized.pairs,
    summarised,
    summarisedTokens: isFrom ? newerTokens : olderTokens,
    kept,
    keptTokens: isFrom ? olderTokens : newerTokens,
    keptPlace: isFrom ? "before" : "after",
    isKeptRewritten: kept !== keptAsTheyAre,
    clearedToolUseIds,
    tokenRatio: ratio,
    countTokens: (text) => Math.ceil(countText(text) * ratio),
    countEntries: (some, contents = []) => {
      const inContents = contents.map((content) => measureContent(content, countText));
      return Math.round((sum(some.map(sized.estimateOf)) + sum(inContents)) * ratio);
    },
    tokensSent: sized.tokensSent,
  };
}

/** Room for the summary and for the conversation to go on comes before a tail that is larger than was wished. */
function recentWish(sized: SizedConversation, options: PlanOptions): RecentWish {
  const { overheadTokens } = sized;
  const { targetTokens = Number.POSITIVE_INFINITY, usualKeepRecentTokens: usual } = options;
  const conversationTokens = sum(sized.tokens);
  const keepTokens =
    options.keepRecentTokens ??
    (usual === undefined
      ? defaultKeepRecent({ targetTokens, conversationTokens })
      : shareToKeep(usual, conversationTokens));
  const room = (targetTokens - overheadTokens) / 2;
  return { keepTokens, mostTokens: Math.max(keepTokens, Math.min(keepTokens * KEEP_OVERSHOOT, room)) };
}

function partialCut({ entries }: SizedConversation, { variant, at }: PlanOptions): number {
  const picked = at === undefined ? undefined : locateMessage(entries, at);
  if (picked === undefined) throw messageNotFound(at);
  return variant === "from" ? cutFrom(entries, picked) : cutUpTo(entries, picked);
}

/** Nothing is gained by a summary of a summary alone. */
export const isWorthSummarising = (entry: Entry): boolean => isMessage(entry) && !isSummaryEntry(entry);

const isMessage = (entry: Entry): boolean => entry.type === "assistant" || entry.type === "user";

const REMEDIES: Readonly<Record<SummaryVariant, string>> = {
  whole: "Everything there is would be kept as it is. Keep fewer recent tokens, or go on with the session.",
  from: "Nothing stands from that message on that a summary could shorten. Choose an earlier one.",
  "up-to": "Nothing stands before that message that a summary could shorten. Choose a later one.",
};

function notEnoughMessages(entries: number, variant: SummaryVariant): LonghaulError {
  const remedy = entries === 0 ? "Nothing has been said in this session yet." : REMEDIES[variant];
  return new LonghaulError("not-enough-messages", "There are not enough messages to compact.", {
    remedy,
    facts: { entries },
  });
}
