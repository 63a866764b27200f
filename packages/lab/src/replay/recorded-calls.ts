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
  /** What came since the call before, its answer first. All before the first call, for that one. */
  readonly news: readonly Entry[];
  readonly messageId: string | undefined;
  /** When the request went out and when the answer was there, in milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** All that the provider reported to have read; undefined where it did not, or the file has it wrong. */
  readonly inputTokens: number | undefined;
  /** Undefined where the file has no final figure. */
  readonly outputTokens: number | undefined;
  /** The recorded agent had its history rewritten before this call: the figures are about another conversation. */
  readonly isAfterRewrite: boolean;
}

export interface RecordedSession {
  readonly calls: readonly RecordedCall[];
  /** What came after the last call's request: its answer, and what followed. */
  readonly rest: readonly Entry[];
}

/** Everything that was said, oldest first; what only says again what stands above is retold. */
export type RecordedHistory = Pick<SessionHistory, "entries" | "isRetold">;

/**
 * The whole session as it happened, call by call. What the recorded agent made of its own history, summaries and
 * cleared results, is left out: it is what the policies are to do.
 */
export function recordedCalls(history: RecordedHistory): RecordedSession {
  const entries = history.entries.filter((entry) => isEntry(entry) && entry.type !== "progress");
  const starts = new Map<Entry, ResponseEntries>();
  for (const response of responses(entries.filter((entry) => !history.isRetold(entry)))) {
    const [first] = response.entries;
    if (first !== undefined && !response.isSynthetic) starts.set(first, response);
  }
  const calls: RecordedCall[] = [];
  let news: Entry[] = [];
  let isAfterRewrite = false;
  let clock = Number.NEGATIVE_INFINITY;
  for (const entry of entries) {
    if (isRewrite(entry)) isAfterRewrite = true;
    if (history.isRetold(entry) || isRewrite(entry)) continue;
    const response = starts.get(entry);
    if (response !== undefined) {
      const endedAt = finite(Math.max(clock, ...response.entries.map(timeOf)), 0);
      calls.push({ ...factsOf(response), news, isAfterRewrite, startedAt: finite(clock, endedAt), endedAt });
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
