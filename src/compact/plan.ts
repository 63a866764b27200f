import { withClearedResults } from "../conversation/cleared.ts";
import { moveCutBack } from "../conversation/cut.ts";
import { type Entry, isCompactBoundary } from "../conversation/entry.ts";
import { isEntry } from "../conversation/untrusted.ts";
import { LonghaulError } from "../errors.ts";
import { calibrated } from "../tokens/calibration.ts";
import { meterFor } from "../tokens/context.ts";
import { type CountText, ESTIMATORS, measureEntry } from "../tokens/measure.ts";
import { KEEP_RECENT_TOKENS } from "./keep-recent.ts";

/** What is kept verbatim is never so much that a small window would be full of it. */
const KEEP_RECENT_SHARE = 0.1;

/** What a compaction looks at: the conversation as loaded or as held in memory. */
export interface Snapshot {
  readonly entries: readonly Entry[];
  /** Results the agent no longer sends although the file still holds them. */
  readonly clearedToolUseIds?: ReadonlySet<string>;
}

export interface PlanOptions {
  readonly trigger?: "manual" | "auto";
  /** By default {@link KEEP_RECENT_TOKENS}, or less where the target is small. */
  readonly keepRecentTokens?: number | undefined;
  /** What the result should stay below. */
  readonly targetTokens?: number | undefined;
  readonly countText?: CountText;
}

/** A decision as data: what would be summarised and what kept, with the tokens of each. */
export interface CompactionPlan {
  readonly trigger: "manual" | "auto";
  readonly tokensBefore: number;
  readonly source: "usage" | "estimate";
  /** What the host sends besides messages (system prompt, tools): in the count, but not in the entries. */
  readonly overheadTokens: number;
  readonly summarised: readonly Entry[];
  readonly summarisedTokens: number;
  readonly kept: readonly Entry[];
  readonly keptTokens: number;
  /** Results among the entries that are sent as cleared. */
  readonly clearedToolUseIds: ReadonlySet<string>;
  /** The provider's tokens per token of our estimate, as its reports have taught us. */
  readonly tokenRatio: number;
  /** Tokens as the provider would count them. */
  readonly countTokens: CountText;
}

export function planCompaction(snapshot: Snapshot, options: PlanOptions = {}): CompactionPlan {
  const countText = options.countText ?? ESTIMATORS.o200k;
  const entries = fromLastBoundary(snapshot.entries);
  const clearedToolUseIds = snapshot.clearedToolUseIds ?? new Set();
  const asSent = withClearedResults(entries, clearedToolUseIds);
  const meter = meterFor(asSent, countText);
  const context = meter.size();
  const { ratio } = meter.calibration;
  const measured = asSent.map((entry) => measureEntry(entry, countText) * ratio);

  const cut = chooseCut(entries, measured, options.keepRecentTokens ?? defaultKeep(options.targetTokens));
  const summarised = entries.slice(0, cut);
  if (!summarised.some(isWorthSummarising)) throw notEnoughMessages(entries.length);
  const summarisedTokens = Math.round(sum(measured.slice(0, cut)));
  const keptTokens = Math.round(sum(measured.slice(cut)));
  return {
    trigger: options.trigger ?? "manual",
    tokensBefore: context.tokens,
    source: context.source,
    overheadTokens: Math.max(0, context.tokens - summarisedTokens - keptTokens),
    summarised,
    summarisedTokens,
    kept: entries.slice(cut),
    keptTokens,
    clearedToolUseIds,
    tokenRatio: ratio,
    countTokens: (text) => calibrated(meter.calibration, countText(text)),
  };
}

function defaultKeep(targetTokens = Number.POSITIVE_INFINITY): number {
  return Math.min(KEEP_RECENT_TOKENS, Math.floor(targetTokens * KEEP_RECENT_SHARE));
}

/** What lies before the last boundary is not in the context any more; its summary is. */
function fromLastBoundary(entries: readonly Entry[]): readonly Entry[] {
  const readable = entries.filter(isEntry);
  return readable.slice(Math.max(0, readable.findLastIndex(isCompactBoundary)));
}

/** Walks back from the end while what lies behind still fits, then to where nothing is torn apart. */
function chooseCut(entries: readonly Entry[], tokens: readonly number[], keepTokens: number): number {
  let cut = entries.length;
  let kept = 0;
  while (cut > 0 && kept + (tokens[cut - 1] ?? 0) <= keepTokens) kept += tokens[--cut] ?? 0;
  return keepTokens <= 0 ? entries.length : Math.max(moveCutBack(entries, cut), firstAfterSummary(entries));
}

/** An earlier boundary and its summary are never kept as they are: summaries chain. */
function firstAfterSummary(entries: readonly Entry[]): number {
  return entries.findLastIndex((entry) => isCompactBoundary(entry) || isSummary(entry)) + 1;
}

/** Nothing is gained by a summary of a summary alone. */
const isWorthSummarising = (entry: Entry): boolean =>
  entry.type === "assistant" || (entry.type === "user" && !isSummary(entry));

const isSummary = (entry: Entry): boolean => entry.type === "user" && entry.isCompactSummary === true;

function notEnoughMessages(entries: number): LonghaulError {
  const remedy =
    entries === 0
      ? "Nothing has been said in this session yet."
      : "Everything there is would be kept as it is. Keep fewer recent tokens, or go on with the session.";
  return new LonghaulError("not-enough-messages", "There are not enough messages to compact.", {
    remedy,
    facts: { entries },
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
