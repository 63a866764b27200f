import type { Entry, UserEntry } from "./entry.ts";
import { field, stringListField } from "./fields.ts";
import { isEntry } from "./untrusted.ts";

/** What stands where messages were removed: how many, and which, so that they can be found again. */
export interface SnipMarker extends UserEntry {
  readonly snipped: SnipRecord;
}

export interface SnipRecord {
  readonly messages: number;
  readonly uuids: readonly string[];
  /** The model ties thinking to the history before it: that of messages after the removed ones went with them. */
  readonly bindsThinking?: boolean;
  /** A compaction took it over: what it stands for lies before the boundary. */
  readonly isSettled?: boolean;
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
