import type { AssistantEntry, Entry } from "../conversation/entry.ts";
import { savedTokens } from "../conversation/saved-tokens.ts";
import { reportedUsage } from "../conversation/usage.ts";

/** What is known of an entry's report when a conversation is read from the start. */
interface ReportState {
  /** Something was cleared or collapsed after it. */
  readonly isBeforeMark: boolean;
  /** Nothing can be learned from it: between it and others lay what is cleared or collapsed now. */
  readonly isOld: boolean;
}

/** What a mark says was saved is about the newest report before it, and about no other. */
export function reportsBeforeMark(entries: readonly Entry[]): (entry: Entry, index: number) => ReportState {
  const lastMark = entries.findLastIndex((entry) => savedTokens(entry) !== undefined);
  const newest = entries.slice(0, Math.max(0, lastMark)).findLast(isReport);
  return (entry, index) => {
    const isBeforeMark = index < lastMark;
    return { isBeforeMark, isOld: isBeforeMark && isReport(entry) && !isOfSameResponse(entry, newest) };
  };
}

export const isReport = (entry: Entry): entry is AssistantEntry =>
  entry.type === "assistant" && reportedUsage(entry) !== undefined;

/** One response may be several entries. */
const isOfSameResponse = (one: AssistantEntry, other: AssistantEntry | undefined): boolean =>
  one === other || (one.message.id !== undefined && one.message.id === other?.message.id);
