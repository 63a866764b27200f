import type { Entry } from "../../messages/entry.ts";
import { responseIdOf } from "../../messages/entry.ts";
import { inputTokens, reportedUsage, respondingModel } from "../../messages/responses.ts";
import { type ContextMeter, HIGHEST_RATIO } from "./context-meter.ts";

/**
 * Number of first calls that show the overhead. Later, the error of the estimate is larger than the overhead.
 */
const FIRST_CALLS = 5;

/** A conversation that was counted, with our estimates. */
export interface CountedConversation {
  readonly meter: Pick<ContextMeter, "size" | "calibration" | "isFromBeforeCompaction">;
  readonly entries: readonly Entry[];
  /** Estimate of each entry as the first calls sent it, before any clearing. */
  readonly estimatesThen: ArrayLike<number>;
  /** Estimate of all entries as the next call sends them. */
  readonly estimateNow: number;
}

/** Composition of a context: overhead + ratio × our estimate of the entries. */
export interface ContextParts {
  /**
   * Tokens that every call carries and no entry contains: system prompt, tools, and text that the agent adds
   * itself.
   */
  readonly overheadTokens: number;
  /** The provider's tokens per token of our estimate. */
  readonly ratio: number;
}

/**
 * Divides a context into overhead and entries. The first calls show the overhead best. In later calls, most
 * of the unexplained tokens are an error of the estimate and belong to the entries.
 */
export function divideContext(counted: CountedConversation): ContextParts {
  const { meter, estimateNow } = counted;
  const { tokens, source } = meter.size();
  const { ratio } = meter.calibration;
  const unexplained = Math.max(0, tokens - Math.round(estimateNow * ratio));
  if (source === "estimate" || unexplained === 0) return { overheadTokens: unexplained, ratio };
  const overheadTokens = Math.min(unexplained, overheadOfFirstCalls(counted, ratio));
  const explaining = (tokens - overheadTokens) / Math.max(1, estimateNow);
  if (explaining <= HIGHEST_RATIO) return { overheadTokens, ratio: explaining };
  return { overheadTokens: Math.round(tokens - estimateNow * HIGHEST_RATIO), ratio: HIGHEST_RATIO };
}

/**
 * Returns the smallest overhead among the first calls of the newest model. The overhead of a call is its
 * input tokens minus the tokens of its messages. If no call reports usage, returns Infinity. In that case all
 * unexplained tokens count as overhead.
 */
function overheadOfFirstCalls({ meter, entries, estimatesThen }: CountedConversation, ratio: number): number {
  const isReport = (entry: Entry): boolean =>
    reportedUsage(entry) !== undefined && !meter.isFromBeforeCompaction(entry);
  const model = respondingModel(entries.findLast(isReport));
  let least = Number.POSITIVE_INFINITY;
  let [calls, before] = [0, 0];
  let lastId: string | undefined;
  for (const [index, entry] of entries.entries()) {
    const usage = isReport(entry) ? reportedUsage(entry) : undefined;
    const id = entry.type === "assistant" ? responseIdOf(entry) : undefined;
    if (usage !== undefined && respondingModel(entry) === model && (id === undefined || id !== lastId)) {
      least = Math.min(least, Math.max(0, Math.round(inputTokens(usage) - before * ratio)));
      if (++calls === FIRST_CALLS) break;
      lastId = id;
    }
    before += estimatesThen[index] ?? 0;
  }
  return least;
}
