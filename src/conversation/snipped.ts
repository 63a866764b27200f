import type { Entry, SnipEnd, UserEntry } from "./entry.ts";
import { isEntry } from "./entry.ts";
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
