import type { KnownTokens } from "../../measure/tokens/accounting.ts";
import { type ContextSize, meterFor } from "../../measure/tokens/context-meter.ts";
import { estimateO200k } from "../../measure/tokens/estimate/o200k.ts";
import { type CountText, measureBlock, measureEntry } from "../../measure/tokens/measure.ts";
import { type ContextParts, divideContext } from "../../measure/tokens/overhead.ts";
import { type Entry, isCompactBoundary, isEntry } from "../../messages/entry.ts";
import type { ContentBlock } from "../../messages/message.ts";
import { indexPairs, type PairIndex } from "../../messages/pairs.ts";
import { withClearedResults } from "../../messages/stand-ins.ts";

/** Measures a conversation before it is divided: the tokens of each entry and of the whole context. */

/** Input of a compaction: the conversation from a file or from memory. */
export interface Snapshot {
  readonly entries: readonly Entry[];
  /** Results that the agent no longer sends, although the file still contains them. */
  readonly clearedToolUseIds?: ReadonlySet<string>;
  /**
   * True if a transcript has every message, so that the recall tool finds the missing text. True by default.
   */
  readonly isRecorded?: boolean | undefined;
}

/** Measures of a host that counts every turn, so that nothing is measured again. */
export interface KnownMeasures {
  /** Returns our estimate for an entry, before any calibration. */
  tokensOf(entry: Entry): number;
  /** Returns our estimate for a block. Without it, blocks are counted again. */
  readonly tokensOfBlock?: ((block: ContentBlock) => number) | undefined;
  readonly context: ContextSize;
  /** The provider's tokens per token of our estimate. */
  readonly ratio: number;
  /**
   * Tokens that every call has besides messages. If this figure is absent, all tokens that our estimate does
   * not explain count as overhead. In a long conversation, such tokens are mostly the error of the estimate.
   */
  readonly overheadTokens?: number | undefined;
}

/** A conversation from its last boundary on, with the tokens of each entry in the provider's count. */
export interface SizedConversation {
  readonly entries: readonly Entry[];
  /** The entries with cleared results replaced, as they are sent. */
  readonly sent: readonly Entry[];
  /** Tokens of each entry, computed on first use. */
  readonly tokens: readonly number[];
  /** Tokens by entry and block. */
  readonly tokensSent: KnownTokens;
  readonly context: ContextSize;
  /** Returns the index of calls and results, created on first use and then shared. */
  readonly pairs: () => PairIndex;
  readonly contextTokens: number;
  readonly source: ContextSize["source"];
  /**
   * Tokens that the host sends besides messages. The count of the context includes them, but no entry
   * contains them.
   */
  readonly overheadTokens: number;
  readonly ratio: number;
  readonly countText: CountText;
  /** Our estimate of all entries as they are sent, before any calibration. */
  readonly estimatedTokens: number;
  /** Returns our estimate of an entry, before any calibration. */
  estimateOf(entry: Entry): number;
  readonly clearedToolUseIds: ReadonlySet<string>;
  readonly isRecorded: boolean;
}

export interface SizeOptions {
  readonly countText?: CountText | undefined;
  readonly measured?: KnownMeasures | undefined;
  /** Earlier measurement of the same snapshot, so that nothing is measured again. */
  readonly sized?: SizedConversation | undefined;
}

export function measureConversation(snapshot: Snapshot, options: SizeOptions): SizedConversation {
  if (options.sized !== undefined) return options.sized;
  const countText = options.countText ?? estimateO200k;
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

/**
 * Returns the index of the last boundary. Earlier entries are no longer in the context, but their summary is.
 */
export function lastBoundaryIndex(entries: readonly Entry[]): number {
  return Math.max(
    0,
    entries.findLastIndex((entry) => isEntry(entry) && isCompactBoundary(entry)),
  );
}

/**
 * Returns the entries from `first` on. Returns the same list if it needs no change, because a copy of a long
 * list takes memory.
 */
const entriesSince = (entries: readonly Entry[], first: number): readonly Entry[] =>
  first <= 0 && entries.every(isEntry) ? entries : entries.slice(first).filter(isEntry);

interface Measures extends ContextParts {
  /**
   * Estimate of each entry, before any calibration. There may be millions of entries, and a plain array would
   * take more memory.
   */
  readonly estimates: Float64Array;
  readonly context: ContextSize;
}

function measure(entries: readonly Entry[], sent: readonly Entry[], countText: CountText): Measures {
  const meter = meterFor(sent, countText);
  const estimates = estimatesOf(sent, (entry) => measureEntry(entry, countText));
  // Results that are now cleared were still whole in the first calls.
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
