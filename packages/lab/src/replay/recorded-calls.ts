import {
  inputTokens,
  isCompactBoundary,
  isEntry,
  isMicrocompactBoundary,
  isOutputProvisional,
  isSynthetic,
  reportedUsage,
} from "@longhaul/core/internal/messages";
import type { AssistantEntry, Entry } from "@longhaul/core/messages";
import { responses } from "@longhaul/sessions";
import type { SessionHistory } from "@longhaul/sessions/internal";

export interface RecordedCall {
  /**
   * Entries since the previous call. They start with the answer to that call. For the first call, these are
   * all entries before it.
   */
  readonly newEntries: readonly Entry[];
  readonly messageId: string | undefined;
  /** Times of the request and of the answer, in milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  /**
   * All input tokens that the provider reported. Undefined if the provider reported none, or if the figure in
   * the file is wrong.
   */
  readonly inputTokens: number | undefined;
  /** Output tokens that the provider reported. Undefined if the file has no final figure. */
  readonly outputTokens: number | undefined;
  /**
   * True if the recorded agent rewrote its history before this call. In that case, the reported tokens belong
   * to the rewritten conversation, which the replay does not send.
   */
  readonly isAfterRewrite: boolean;
}

export interface RecordedSession {
  readonly calls: readonly RecordedCall[];
  /** The answer to the last call, and all entries after that answer. */
  readonly rest: readonly Entry[];
}

/** Everything that was said, oldest first. `isRepeated` is true for entries that repeat earlier entries. */
export type RecordedHistory = Pick<SessionHistory, "entries" | "isRepeated">;

/**
 * Splits the whole session into its model calls. Omits the recorded agent's own summaries and cleared
 * results, because only the policies rewrite the history in a replay.
 */
export function recordedCalls(history: RecordedHistory): RecordedSession {
  const entries = history.entries.filter((entry) => isEntry(entry) && entry.type !== "progress");
  const starts = new Map<Entry, ResponseEntries>();
  for (const response of responses(entries.filter((entry) => !history.isRepeated(entry)))) {
    const [first] = response.entries;
    if (first !== undefined && !response.isSynthetic) starts.set(first, response);
  }
  const calls: RecordedCall[] = [];
  let news: Entry[] = [];
  let isAfterRewrite = false;
  let clock = Number.NEGATIVE_INFINITY;
  for (const entry of entries) {
    if (isRewrite(entry)) isAfterRewrite = true;
    if (history.isRepeated(entry) || isRewrite(entry)) continue;
    const response = starts.get(entry);
    if (response !== undefined) {
      const endedAt = finite(Math.max(clock, ...response.entries.map(timeOf)), 0);
      calls.push({
        ...factsOf(response),
        newEntries: news,
        isAfterRewrite,
        startedAt: finite(clock, endedAt),
        endedAt,
      });
      news = [];
      isAfterRewrite = false;
    }
    clock = Math.max(clock, timeOf(entry));
    news.push(entry);
  }
  return { calls, rest: news };
}

const isRewrite = (entry: Entry): boolean => isCompactBoundary(entry) || isMicrocompactBoundary(entry);

function timeOf({ timestamp }: Entry): number {
  const time = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return finite(time, Number.NEGATIVE_INFINITY);
}

const finite = (number: number, fallback: number): number => (Number.isFinite(number) ? number : fallback);

interface ResponseEntries {
  readonly id: string | undefined;
  readonly entries: readonly AssistantEntry[];
}

function factsOf({
  id,
  entries,
}: ResponseEntries): Pick<RecordedCall, "messageId" | "inputTokens" | "outputTokens"> {
  const reporting = entries.findLast((entry) => !isSynthetic(entry) && reportedUsage(entry) !== undefined);
  const usage = reporting && reportedUsage(reporting);
  const isFinal = reporting !== undefined && !isOutputProvisional(reporting);
  return {
    messageId: id,
    inputTokens: usage && inputTokens(usage),
    outputTokens: isFinal ? usage?.output_tokens : undefined,
  };
}
