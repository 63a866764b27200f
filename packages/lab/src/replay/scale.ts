import type { RequestFrame } from "@longhaul/core/compaction";
import { measureBlock, startCalibration } from "@longhaul/core/internal/measure";
import { isBlock, isSynthetic } from "@longhaul/core/internal/messages";
import { type CountText, ESTIMATORS, measureEntries } from "@longhaul/core/measure";
import type { ContentBlock, Entry } from "@longhaul/core/messages";
import type { RecordedCall, RecordedSession } from "./recorded-calls.ts";

/** Where no usage tells: about what the system prompt and tools of a coding agent take. */
const ASSUMED_OVERHEAD_TOKENS = 15_000;
/** A session that was recorded with a large window is replayed with a small one as a smaller host would have it. */
const LARGEST_OVERHEAD_SHARE = 0.2;
/** Growth beyond this is nothing that stands in the file. */
const OUTLIER_RATIO = 5;
const OUTLIER_TOKENS = 1_000;
const LOWEST_RATIO = 0.4;
const HIGHEST_RATIO = 4;

/** How the estimate is turned into the provider's tokens, for all policies alike. */
export interface Scale {
  /** The provider's tokens per estimated token. */
  readonly ratio: number;
  /** System prompt and tools as they are replayed. */
  readonly overheadTokens: number;
  /** The same as `inspect` has it for the recorded session; undefined where no usage tells. */
  readonly recordedOverheadTokens: number | undefined;
  /** What stands for them in each request. */
  readonly frame: RequestFrame;
  /** As the provider would count. */
  tokensOf(block: object): number;
  tokensOfEntries(entries: readonly Entry[]): number;
  readonly countText: CountText;
}

export interface ScaleOptions extends Pick<Scale, "recordedOverheadTokens"> {
  readonly model: string | undefined;
  readonly windowTokens: number;
}

export function scaleOf(
  { calls }: RecordedSession,
  { model, windowTokens, recordedOverheadTokens }: ScaleOptions,
): Scale {
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

/** Over the whole session: growth that was reported, per growth that we see. */
function learnRatio(calls: readonly RecordedCall[]): number | undefined {
  let estimatedSum = 0;
  let reportedSum = 0;
  for (const [index, call] of calls.entries()) {
    const before = calls[index - 1]?.inputTokens;
    if (before === undefined || call.inputTokens === undefined || call.isAfterRewrite) continue;
    const estimated = estimateOf(call.news);
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

/** A text of so many estimated tokens. What it says does not matter: nobody reads it. */
function systemPrompt(tokens: number): ContentBlock {
  const words = "You are an agent that works on software. ";
  const perWords = ESTIMATORS.o200k(words.repeat(100)) / 100;
  return { type: "text", text: words.repeat(Math.max(1, Math.round(tokens / perWords))) };
}
