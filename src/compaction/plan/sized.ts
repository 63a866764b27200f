import { type Entry, isCompactBoundary, isEntry, isSummaryEntry } from "../../conversation/entry.ts";
import { indexOfMessage } from "../../conversation/lines.ts";
import type { ContentBlock } from "../../conversation/message.ts";
import { indexPairs, type PairIndex, previousSound, soundCuts } from "../../conversation/pairs.ts";
import { withClearedResults } from "../../conversation/stand-ins.ts";
import { LonghaulError } from "../../errors.ts";
import type { KnownTokens } from "../../tokens/accounting.ts";
import { type ContextSize, meterFor } from "../../tokens/context-meter.ts";
import { type CountText, ESTIMATORS, measureBlock, measureEntry } from "../../tokens/measure.ts";
import { type ContextParts, divideContext } from "../../tokens/overhead.ts";

/** A conversation before it is divided: the tokens of each entry, and the places where it can be cut. */

/** Input of a compaction: the conversation as loaded or as held in memory. */
export interface Snapshot {
  readonly entries: readonly Entry[];
  /** Results the agent no longer sends although the file still holds them. */
  readonly clearedToolUseIds?: ReadonlySet<string>;
  /** True if a transcript has every message, so that recall finds the missing text. True by default. */
  readonly isRecorded?: boolean | undefined;
}

/** Measures of a host that counts every turn, so that nothing is measured again. */
export interface KnownMeasures {
  /** Our estimate, before any calibration. */
  tokensOf(entry: Entry): number;
  /** The same of a block, which is counted again where nobody knows it. */
  readonly tokensOfBlock?: ((block: ContentBlock) => number) | undefined;
  readonly context: ContextSize;
  /** The provider's tokens per token of our estimate. */
  readonly ratio: number;
  /**
   * Tokens of every call besides messages. Without it everything that our estimate does not explain is
   * taken for that, which in a long conversation is mostly the estimate's own error.
   */
  readonly overheadTokens?: number | undefined;
}

/** A conversation from its last boundary on, with the tokens of each entry as the provider would count them. */
export interface SizedConversation {
  readonly entries: readonly Entry[];
  /** The same, with the results that are sent as cleared. */
  readonly sent: readonly Entry[];
  /** Made when first asked for. */
  readonly tokens: readonly number[];
  /** The same by entry and block. */
  readonly tokensSent: KnownTokens;
  readonly context: ContextSize;
  /** Calls and results among the entries: made when first asked for, and then shared. */
  readonly pairs: () => PairIndex;
  readonly contextTokens: number;
  readonly source: ContextSize["source"];
  /** Tokens that the host sends besides messages: in the count, but not in the entries. */
  readonly overheadTokens: number;
  readonly ratio: number;
  readonly countText: CountText;
  /** Our estimate of all entries as they are sent, before any calibration. */
  readonly estimatedTokens: number;
  /** Our estimate of an entry, before any calibration. */
  estimateOf(entry: Entry): number;
  readonly clearedToolUseIds: ReadonlySet<string>;
  readonly isRecorded: boolean;
}

export interface SizeOptions {
  readonly countText?: CountText | undefined;
  readonly measured?: KnownMeasures | undefined;
  /** The same snapshot as it was sized before: nothing is measured again. */
  readonly sized?: SizedConversation | undefined;
}

export function sizeUp(snapshot: Snapshot, options: SizeOptions): SizedConversation {
  if (options.sized !== undefined) return options.sized;
  const countText = options.countText ?? ESTIMATORS.o200k;
  const clearedToolUseIds = snapshot.clearedToolUseIds ?? new Set();
  const entries = entriesSince(snapshot.entries, lastBoundaryIndex(snapshot.entries));
  const sent = withClearedResults(entries, clearedToolUseIds);
  const { measured } = options;
  const { estimates, context, overheadTokens, ratio } =
    measured === undefined ? measure(entries, sent, countText) : reused(sent, measured);
  let tokens: readonly number[] | undefined;
  let pairs: PairIndex | undefined;
  const estimateOfBlock = measured?.tokensOfBlock ?? ((block) => measureBlock(block, countText));
  return {
    entries,
    sent,
    get tokens() {
      tokens ??= Array.from(estimates, (estimate) => estimate * ratio);
      return tokens;
    },
    tokensSent: {
      ofEntry: (_, index) => (estimates[index] ?? 0) * ratio,
      ofBlock: (block) => estimateOfBlock(block) * ratio,
    },
    context,
    pairs: () => {
      pairs ??= indexPairs(entries);
      return pairs;
    },
    contextTokens: context.tokens,
    source: context.source,
    overheadTokens,
    ratio,
    countText,
    estimatedTokens: sum(estimates),
    estimateOf: measured?.tokensOf ?? ((entry) => measureEntry(entry, countText)),
    clearedToolUseIds,
    isRecorded: snapshot.isRecorded !== false,
  };
}

/** Entries before the last boundary are no longer in the context; their summary is. */
export function lastBoundaryIndex(entries: readonly Entry[]): number {
  return Math.max(
    0,
    entries.findLastIndex((entry) => isEntry(entry) && isCompactBoundary(entry)),
  );
}

/** The very list where all of it is meant: a copy of a long one takes memory. */
const entriesSince = (entries: readonly Entry[], first: number): readonly Entry[] =>
  first <= 0 && entries.every(isEntry) ? entries : entries.slice(first).filter(isEntry);

interface Measures extends ContextParts {
  /** Of each entry, before any calibration. A list of numbers takes more memory, and there may be millions. */
  readonly estimates: Float64Array;
  readonly context: ContextSize;
}

function measure(entries: readonly Entry[], sent: readonly Entry[], countText: CountText): Measures {
  const meter = meterFor(sent, countText);
  const estimates = estimatesOf(sent, (entry) => measureEntry(entry, countText));
  // Results that are cleared now were whole in the first calls.
  const estimateThen = (estimate: number, at: number): number => {
    const entry = entries[at];
    return entry === undefined || entry === sent[at] ? estimate : measureEntry(entry, countText);
  };
  const estimatesThen = entries === sent ? estimates : estimates.map(estimateThen);
  const parts = divideContext({ meter, entries, estimatesThen, estimateNow: sum(estimates) });
  return { estimates, context: meter.size(), ...parts };
}

function reused(
  sent: readonly Entry[],
  { tokensOf, context, ratio, overheadTokens }: KnownMeasures,
): Measures {
  const estimates = estimatesOf(sent, tokensOf);
  const unexplained = Math.max(0, context.tokens - Math.round(sum(estimates) * ratio));
  return { estimates, context, ratio, overheadTokens: overheadTokens ?? unexplained };
}

function estimatesOf(entries: readonly Entry[], tokensOf: (entry: Entry) => number): Float64Array {
  const estimates = new Float64Array(entries.length);
  for (const [at, entry] of entries.entries()) estimates[at] = tokensOf(entry);
  return estimates;
}

export function sum(numbers: ArrayLike<number>): number {
  let total = 0;
  for (let at = 0; at < numbers.length; at++) total += numbers[at] ?? 0;
  return total;
}

export interface RecentWish {
  readonly keepTokens: number;
  /** To keep a call with its result, so much may be kept; what is larger still is summarised. */
  readonly mostTokens: number;
}

/** Index of the first message to keep: as many of the newest as fit, and nothing torn apart. */
export function cutForRecent(
  entries: readonly Entry[],
  tokens: readonly number[],
  { keepTokens, mostTokens }: RecentWish,
): number {
  if (keepTokens <= 0) return entries.length;
  let cut = entries.length;
  let kept = 0;
  while (cut > 0 && kept + (tokens[cut - 1] ?? 0) <= keepTokens) kept += tokens[--cut] ?? 0;
  const sound = soundCuts(entries);
  const wanted = cut;
  // A single message that is larger than the wish is a tail as well.
  if (kept === 0 && cut > 0) kept += tokens[--cut] ?? 0;
  while (cut > 0 && sound[cut] === false) kept += tokens[--cut] ?? 0;
  if (kept > mostTokens) cut = wanted;
  return nextSound(sound, Math.max(cut, firstAfterSummary(entries)));
}

/**
 * Everything from the picked message on is kept, also a summary that follows kept messages. The summary that the
 * conversation begins with is never kept.
 */
export function cutUpTo(entries: readonly Entry[], picked: number): number {
  const sound = soundCuts(entries);
  return nextSound(sound, Math.max(previousSound(sound, picked), firstAfterLeadingSummary(entries)));
}

/** The picked message is the first that is summarised, or one before it where that would tear something apart. */
export function cutFrom(entries: readonly Entry[], picked: number): number {
  return previousSound(soundCuts(entries), picked);
}

/** An earlier boundary and its summary are not kept as they are: summaries chain. */
export function firstAfterSummary(entries: readonly Entry[]): number {
  return entries.findLastIndex((entry) => isCompactBoundary(entry) || isSummaryEntry(entry)) + 1;
}

/** The first entry below the last boundary and the summary that follows it, with attachments between them. */
function firstAfterLeadingSummary(entries: readonly Entry[]): number {
  let first = entries.findLastIndex(isCompactBoundary) + 1;
  for (let at = first; at < entries.length; at++) {
    const entry = entries[at];
    if (entry !== undefined && isSummaryEntry(entry)) first = at + 1;
    else if (entry?.type !== "attachment") break;
  }
  return first;
}

function nextSound(sound: readonly boolean[], index: number): number {
  let cut = index;
  while (cut < sound.length - 1 && sound[cut] === false) cut++;
  return cut;
}

/** A message of a conversation: its uuid, or its index among the entries from the last boundary on. */
export type MessageRef = string | number;

/** The index that is meant, among entries that begin at the last boundary; undefined where there is none. */
export function locateMessage(entries: readonly Entry[], ref: MessageRef): number | undefined {
  if (typeof ref === "string") {
    const index = indexOfMessage(entries, ref);
    return index === -1 ? undefined : index;
  }
  return Number.isInteger(ref) && ref >= 0 && ref < entries.length ? ref : undefined;
}

export function messageNotFound(ref: MessageRef | undefined): LonghaulError {
  return new LonghaulError("message-not-found", "There is no such message in the current conversation.", {
    remedy:
      "Give the uuid of a message, or its index counted from 0. What an earlier compaction summarised can no longer be chosen.",
    facts: ref === undefined ? {} : { message: ref },
  });
}
