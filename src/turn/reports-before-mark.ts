import { timeOf } from "../conversation/copies.ts";
import type { AssistantEntry, Entry } from "../conversation/entry.ts";
import { reportedUsage, savedTokens } from "../conversation/reported-usage.ts";
import { isStandIn } from "../conversation/stand-ins.ts";

/** What is known of an entry's report when a conversation is read from the start. */
interface ReportState {
  /** Something was cleared or collapsed after it. */
  readonly isBeforeMark: boolean;
  /** Nothing can be learned from it: between it and others lay what is cleared or collapsed now. */
  readonly isOld: boolean;
}

/**
 * What a mark says was saved is about the newest report before it, and about no other. A host that goes back may cut the
 * mark off. Then a report that is older than a stand-in above it is about messages that the stand-in replaced.
 */
export function reportsBeforeMark(entries: readonly Entry[]): (entry: Entry, index: number) => ReportState {
  const lastMark = entries.findLastIndex((entry) => savedTokens(entry) !== undefined);
  const newest = entries.slice(0, Math.max(0, lastMark)).findLast(isReport);
  const markedAt = timeAt(entries[lastMark]);
  const replacedAt = newestStandIns(entries);
  return (entry, index) => {
    const isBeforeMark = index < lastMark;
    if (!isReport(entry)) return { isBeforeMark, isOld: false };
    const toldAt = isBeforeMark ? Math.max(timeAt(entry), markedAt) : timeAt(entry);
    const isReplaced = (replacedAt[index] ?? NEVER) > toldAt;
    return { isBeforeMark, isOld: isReplaced || (isBeforeMark && !isOfSameResponse(entry, newest)) };
  };
}

const NEVER = Number.NEGATIVE_INFINITY;

/** For each place, when the newest stand-in above it was written. Empty if there is none. */
function newestStandIns(entries: readonly Entry[]): readonly number[] {
  if (!entries.some(isStandIn)) return [];
  let newest = NEVER;
  return entries.map((entry) => {
    if (isStandIn(entry)) newest = Math.max(newest, timeAt(entry));
    return newest;
  });
}

function timeAt(entry: Entry | undefined): number {
  const time = entry === undefined ? Number.NaN : Date.parse(timeOf(entry) ?? "");
  return Number.isNaN(time) ? NEVER : time;
}

export const isReport = (entry: Entry): entry is AssistantEntry =>
  entry.type === "assistant" && reportedUsage(entry) !== undefined;

/** One response may be several entries. */
const isOfSameResponse = (one: AssistantEntry, other: AssistantEntry | undefined): boolean =>
  one === other || (one.message.id !== undefined && one.message.id === other?.message.id);
