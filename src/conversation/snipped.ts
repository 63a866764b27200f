import type { Entry, EntryLink, UserEntry } from "./entry.ts";
import { isEntry } from "./entry.ts";
import { isFromQueue } from "./queued.ts";
import { field, stringListField } from "./untrusted.ts";

/** What stands where messages were removed: how many, and which, so that they can be found again. */
export interface SnipMarker extends UserEntry {
  readonly snipped: SnipRecord;
}

export interface SnipRecord {
  readonly messages: number;
  readonly uuids: readonly string[];
  /** The model ties thinking to the history before it: that of messages after the removed ones went with them. */
  readonly bindsThinking?: boolean;
  /** A compaction took it over, or a change of the host moved its line: its messages are not in front of it any more. */
  readonly isSettled?: boolean;
}

/**
 * The last line of a snip. Never sent. Markers take the place of old messages, but on disk they are the newest lines:
 * the next entry has this line as its parent, so a reader passes the markers.
 */
export interface SnipEnd extends EntryLink {
  readonly type: "system";
  readonly subtype: "informational";
  readonly content: string;
  /** Tokens that the newest usage in the conversation reports but that are gone. */
  readonly snip: { readonly tokensSaved: number };
}

export function isSnipEnd(entry: Entry): entry is SnipEnd {
  if (!isEntry(entry) || entry.type !== "system") return false;
  return typeof field(field(entry, "snip"), "tokensSaved") === "number";
}

export function isSnipMarker(entry: Entry): entry is SnipMarker {
  return (
    isEntry(entry) && entry.type === "user" && typeof field(field(entry, "snipped"), "messages") === "number"
  );
}

/** Uuids of what this entry stands for; none where it is no marker. */
export function snippedUuids(entry: Entry): readonly string[] {
  return isSnipMarker(entry) ? stringListField(entry.snipped, "uuids") : [];
}

/** The newest line of the conversation: a marker stands where messages were, though it was written after them all. */
export function newestLine(entries: readonly Entry[]): Entry | undefined {
  const after = new Map<string | null, Entry>();
  for (const entry of entries) if (isSnipMarker(entry)) after.set(entry.parentUuid, entry);
  let newest = entries.findLast((entry) => isEntry(entry) && entry.uuid !== undefined && !isFromQueue(entry));
  for (let steps = after.size; steps > 0; steps--) newest = after.get(newest?.uuid ?? "") ?? newest;
  return newest;
}
