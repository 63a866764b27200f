import { type Entry, isCompactBoundary, isSummaryEntry } from "../../messages/entry.ts";
import { LonghaulError } from "../../messages/errors.ts";
import { indexOfMessage } from "../../messages/lines.ts";
import { previousSoundCut, soundCuts } from "../../messages/pairs.ts";

/** The place where a conversation is cut: by a wish for recent messages, or at a message that somebody picked. */

export interface RecentWish {
  readonly keepTokens: number;
  /** To keep a call with its result, so much may be kept; what is larger still is summarized. */
  readonly mostTokens: number;
}

/** Index of the first message to keep: as many of the newest as fit, and nothing torn apart. */
export function cutForRecent(
  entries: readonly Entry[],
  tokens: readonly number[],
  { keepTokens, mostTokens }: RecentWish,
): number {
  if (keepTokens <= 0) return entries.length;
  let cut = entries.length;
  let kept = 0;
  while (cut > 0 && kept + (tokens[cut - 1] ?? 0) <= keepTokens) kept += tokens[--cut] ?? 0;
  const sound = soundCuts(entries);
  const wanted = cut;
  // A single message that is larger than the wish is a tail as well.
  if (kept === 0 && cut > 0) kept += tokens[--cut] ?? 0;
  while (cut > 0 && sound[cut] === false) kept += tokens[--cut] ?? 0;
  if (kept > mostTokens) cut = wanted;
  return nextSound(sound, Math.max(cut, firstAfterSummary(entries)));
}

/**
 * Everything from the picked message on is kept, also a summary that follows kept messages. The summary that the
 * conversation begins with is never kept.
 */
export function cutUpTo(entries: readonly Entry[], picked: number): number {
  const sound = soundCuts(entries);
  return nextSound(sound, Math.max(previousSoundCut(sound, picked), firstAfterLeadingSummary(entries)));
}

/** The picked message is the first that is summarized, or one before it where that would tear something apart. */
export function cutFrom(entries: readonly Entry[], picked: number): number {
  return previousSoundCut(soundCuts(entries), picked);
}

/** An earlier boundary and its summary are not kept as they are: summaries chain. */
export function firstAfterSummary(entries: readonly Entry[]): number {
  return entries.findLastIndex((entry) => isCompactBoundary(entry) || isSummaryEntry(entry)) + 1;
}

/** The first entry below the last boundary and the summary that follows it, with attachments between them. */
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

/** A message of a conversation: its uuid, or its index among the entries from the last boundary on. */
export type MessageRef = string | number;

/** The index that is meant, among entries that begin at the last boundary; undefined where there is none. */
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
      ? "the call names no message"
      : `the current conversation has no message ${typeof ref === "number" ? `with the index ${ref}` : ref}`;
  return new LonghaulError("message-not-found", `No message found: ${why}.`, {
    remedy:
      "Pass the uuid of a message, or its index counted from 0. You cannot choose messages that an earlier compaction summarized.",
    facts: ref === undefined ? {} : { message: ref },
  });
}
