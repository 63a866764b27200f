import type { RequestFrame } from "@longhaul/core/compaction";
import { measureBlock, startCalibration } from "@longhaul/core/internal/measure";
import { isBlock, isSynthetic } from "@longhaul/core/internal/messages";
import { type CountText, ESTIMATORS, measureEntries } from "@longhaul/core/measure";
import type { ContentBlock, Entry } from "@longhaul/core/messages";
import type { RecordedCall, RecordedSession } from "./recorded-calls.ts";

/** Approximate tokens of a coding agent's system prompt and tools, for sessions without reported usage. */
const ASSUMED_OVERHEAD_TOKENS = 15_000;
/**
 * Maximum share of the window for system prompt and tools. It applies if a session was recorded in a large
 * window and is replayed in a small window.
 */
const LARGEST_OVERHEAD_SHARE = 0.2;
/**
 * Maximum ratio of the reported growth of a conversation to its estimated growth. If the ratio is larger, the
 * growth has a cause that is not in the file.
 */
const OUTLIER_RATIO = 5;
const OUTLIER_TOKENS = 1_000;
const LOWEST_RATIO = 0.4;
const HIGHEST_RATIO = 4;

/** Converts estimated tokens into the provider's tokens, in the same way for all policies. */
export interface TokenScale {
  /** Provider tokens per estimated token. */
  readonly ratio: number;
  /** Tokens of system prompt and tools in the replay. */
  readonly overheadTokens: number;
  /** Overhead of the recorded session as `inspect` computes it. Undefined without reported usage. */
  readonly recordedOverheadTokens: number | undefined;
  /** Placeholder for the system prompt and tools in each request. */
  readonly frame: RequestFrame;
  /** Counts the tokens of a block as the provider would. */
  tokensOf(block: object): number;
  tokensOfEntries(entries: readonly Entry[]): number;
  readonly countText: CountText;
}

export interface TokenScaleOptions extends Pick<TokenScale, "recordedOverheadTokens"> {
  readonly model: string | undefined;
  readonly windowTokens: number;
}

export function createTokenScale(
  { calls }: RecordedSession,
  { model, windowTokens, recordedOverheadTokens }: TokenScaleOptions,
): TokenScale {
  const ratio = learnRatio(calls) ?? startCalibration(model).ratio;
  const overheadTokens = Math.round(
    Math.min(recordedOverheadTokens ?? ASSUMED_OVERHEAD_TOKENS, windowTokens * LARGEST_OVERHEAD_SHARE),
  );
  const measured = new WeakMap<object, number>();
  const tokensOf = (block: object): number => {
    const known = measured.get(block);
    if (known !== undefined) return known;
    const estimated = isBlock(block) ? measureBlock(block, ESTIMATORS.o200k) : jsonTokens(block);
    measured.set(block, estimated * ratio);
    return estimated * ratio;
  };
  return {
    ratio,
    overheadTokens,
    recordedOverheadTokens,
    frame: { system: [systemPrompt(overheadTokens / ratio)] },
    tokensOf,
    tokensOfEntries: (entries) => Math.round(measureEntries(entries, ESTIMATORS.o200k) * ratio),
    countText: (text) => Math.round(ESTIMATORS.o200k(text) * ratio),
  };
}

const jsonTokens = (value: object): number => ESTIMATORS.o200k(JSON.stringify(value));

/**
 * Returns the reported growth of the conversation divided by its estimated growth, over the whole session.
 */
function learnRatio(calls: readonly RecordedCall[]): number | undefined {
  let estimatedSum = 0;
  let reportedSum = 0;
  for (const [index, call] of calls.entries()) {
    const before = calls[index - 1]?.inputTokens;
    if (before === undefined || call.inputTokens === undefined || call.isAfterRewrite) continue;
    const estimated = estimateOf(call.newEntries);
    const reported = call.inputTokens - before;
    if (estimated <= 0 || reported <= 0) continue;
    estimatedSum += estimated;
    reportedSum += Math.min(reported, estimated * OUTLIER_RATIO + OUTLIER_TOKENS);
  }
  if (estimatedSum === 0) return undefined;
  return Math.min(HIGHEST_RATIO, Math.max(LOWEST_RATIO, reportedSum / estimatedSum));
}

const estimateOf = (entries: readonly Entry[]): number =>
  measureEntries(
    entries.filter((entry) => entry.type !== "assistant" || !isSynthetic(entry)),
    ESTIMATORS.o200k,
  );

/**
 * Creates a system prompt with about this number of estimated tokens. Its words do not matter, because no
 * model reads them.
 */
function systemPrompt(tokens: number): ContentBlock {
  const words = "You are an agent that works on software. ";
  const perWords = ESTIMATORS.o200k(words.repeat(100)) / 100;
  return { type: "text", text: words.repeat(Math.max(1, Math.round(tokens / perWords))) };
}
