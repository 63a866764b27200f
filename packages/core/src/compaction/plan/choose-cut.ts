import { type Entry, isCompactBoundary, isSummaryEntry } from "../../messages/entry.ts";
import { LonghaulError } from "../../messages/errors.ts";
import { indexOfMessage } from "../../messages/lines.ts";
import { previousSoundCut, soundCuts } from "../../messages/pairs.ts";

/**
 * Chooses the place to cut a conversation. The tokens to keep determine the place, or a message that the user
 * picked.
 */

export interface RecentTarget {
  readonly keepTokens: number;
  /** Maximum tokens to keep if a call is kept with its result. A larger pair is summarized. */
  readonly mostTokens: number;
}

/**
 * Returns the index of the first message to keep. The cut keeps as many recent messages as fit, without
 * splitting a call from its result.
 */
export function cutForRecent(
  entries: readonly Entry[],
  tokens: readonly number[],
  { keepTokens, mostTokens }: RecentTarget,
): number {
  if (keepTokens <= 0) return entries.length;
  let cut = entries.length;
  let kept = 0;
  while (cut > 0 && kept + (tokens[cut - 1] ?? 0) <= keepTokens) kept += tokens[--cut] ?? 0;
  const sound = soundCuts(entries);
  const wanted = cut;
  // A single message can be kept even if it is larger than requested.
  if (kept === 0 && cut > 0) kept += tokens[--cut] ?? 0;
  while (cut > 0 && sound[cut] === false) kept += tokens[--cut] ?? 0;
  if (kept > mostTokens) cut = wanted;
  return nextSound(sound, Math.max(cut, firstAfterSummary(entries)));
}

/**
 * Returns the cut for the variant `up-to`. Everything from the picked message on is kept, including a summary
 * that follows kept messages. The leading summary is never kept.
 */
export function cutUpTo(entries: readonly Entry[], picked: number): number {
  const sound = soundCuts(entries);
  return nextSound(sound, Math.max(previousSoundCut(sound, picked), firstAfterLeadingSummary(entries)));
}

/**
 * Returns the cut for the variant `from`. The picked message is the first to be summarized. If this would
 * split a call from its result, the cut is earlier.
 */
export function cutFrom(entries: readonly Entry[], picked: number): number {
  return previousSoundCut(soundCuts(entries), picked);
}

/**
 * Returns the index after the last boundary or summary. A plan keeps neither, because the new summary
 * includes the earlier one.
 */
export function firstAfterSummary(entries: readonly Entry[]): number {
  return entries.findLastIndex((entry) => isCompactBoundary(entry) || isSummaryEntry(entry)) + 1;
}

/**
 * Returns the index after the last boundary and its summary. Skips attachments between boundary and summary.
 */
function firstAfterLeadingSummary(entries: readonly Entry[]): number {
  let first = entries.findLastIndex(isCompactBoundary) + 1;
  for (let at = first; at < entries.length; at++) {
    const entry = entries[at];
    if (entry !== undefined && isSummaryEntry(entry)) first = at + 1;
    else if (entry?.type !== "attachment") break;
  }
  return first;
}

function nextSound(sound: readonly boolean[], index: number): number {
  let cut = index;
  while (cut < sound.length - 1 && sound[cut] === false) cut++;
  return cut;
}

/** Reference to a message: its uuid, or its index among the entries from the last boundary on. */
export type MessageRef = string | number;

/**
 * Returns the index of the message among entries that begin at the last boundary, or undefined if there is no
 * such message.
 */
export function locateMessage(entries: readonly Entry[], ref: MessageRef): number | undefined {
  if (typeof ref === "string") {
    const index = indexOfMessage(entries, ref);
    return index === -1 ? undefined : index;
  }
  return Number.isInteger(ref) && ref >= 0 && ref < entries.length ? ref : undefined;
}

export function messageNotFound(ref: MessageRef | undefined): LonghaulError {
  const why =
    ref === undefined
      ? "the call does not specify a message"
      : `the current conversation has no message ${typeof ref === "number" ? `with the index ${ref}` : ref}`;
  return new LonghaulError("message-not-found", `No message found: ${why}.`, {
    remedy:
      "Pass the uuid of a message, or its index counted from 0. You cannot choose messages that an earlier compaction summarized.",
    facts: ref === undefined ? {} : { message: ref },
  });
}
