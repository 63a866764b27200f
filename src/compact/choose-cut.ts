import { soundCuts } from "../conversation/cut.ts";
import { type Entry, isCompactBoundary } from "../conversation/entry.ts";
import { isSummaryEntry } from "./summary-entry.ts";

/**
 * To keep a call with its result, so many times the wish may be kept; what is larger still is summarised. A
 * file that was just read stays, a log of a hundred pages does not.
 */
const KEEP_OVERSHOOT = 2;

export interface RecentWish {
  readonly keepTokens: number;
  /** Whether never more than that may be kept. */
  readonly isLimit: boolean;
}

/** Where the newest messages begin that are kept: as many as fit, and nothing torn apart. */
export function cutForRecent(
  entries: readonly Entry[],
  tokens: readonly number[],
  { keepTokens, isLimit }: RecentWish,
): number {
  if (keepTokens <= 0) return entries.length;
  let cut = entries.length;
  let kept = 0;
  while (cut > 0 && kept + (tokens[cut - 1] ?? 0) <= keepTokens) kept += tokens[--cut] ?? 0;
  const sound = soundCuts(entries);
  const wanted = cut;
  while (cut > 0 && sound[cut] === false) kept += tokens[--cut] ?? 0;
  if (kept > keepTokens * (isLimit ? 1 : KEEP_OVERSHOOT)) cut = wanted;
  return nextSound(sound, Math.max(cut, firstAfterSummary(entries)));
}

/** Everything from the picked message on is kept; an earlier summary never is. */
export function cutUpTo(entries: readonly Entry[], picked: number): number {
  const sound = soundCuts(entries);
  return nextSound(sound, Math.max(previousSound(sound, picked), firstAfterSummary(entries)));
}

/** The picked message is the first that is summarised, or one before it where that would tear something apart. */
export function cutFrom(entries: readonly Entry[], picked: number): number {
  return previousSound(soundCuts(entries), picked);
}

/** An earlier boundary and its summary are not kept as they are: summaries chain. */
function firstAfterSummary(entries: readonly Entry[]): number {
  return entries.findLastIndex((entry) => isCompactBoundary(entry) || isSummaryEntry(entry)) + 1;
}

function previousSound(sound: readonly boolean[], index: number): number {
  let cut = index;
  while (cut > 0 && sound[cut] === false) cut--;
  return cut;
}

function nextSound(sound: readonly boolean[], index: number): number {
  let cut = index;
  while (cut < sound.length - 1 && sound[cut] === false) cut++;
  return cut;
}
