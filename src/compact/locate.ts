import { indexOfMessage } from "../conversation/copies.ts";
import { type Entry, isCompactBoundary, isEntry } from "../conversation/entry.ts";
import { LonghaulError } from "../errors.ts";

/** A message of a conversation: its uuid, or its index among the entries from the last boundary on. */
export type MessageRef = string | number;

/** What lies before the last boundary is not in the context any more; its summary is. */
export function lastBoundaryIndex(entries: readonly Entry[]): number {
  return Math.max(
    0,
    entries.findLastIndex((entry) => isEntry(entry) && isCompactBoundary(entry)),
  );
}

/** The index that is meant, among entries that begin at the last boundary; undefined where there is none. */
export function locateMessage(entries: readonly Entry[], ref: MessageRef): number | undefined {
  if (typeof ref === "string") {
    const index = indexOfMessage(entries, ref);
    return index === -1 ? undefined : index;
  }
  return Number.isInteger(ref) && ref >= 0 && ref < entries.length ? ref : undefined;
}

export function messageNotFound(ref: MessageRef | undefined): LonghaulError {
  return new LonghaulError("message-not-found", "There is no such message in the current conversation.", {
    remedy:
      "Give the uuid of a message, or its index counted from 0. What an earlier compaction summarised can no longer be chosen.",
    facts: ref === undefined ? {} : { message: ref },
  });
}
