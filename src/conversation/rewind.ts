import type { Entry, EntryLink } from "./entry.ts";
import { field, stringField } from "./fields.ts";
import { isUndoMark } from "./undo.ts";
import { isEntry } from "./untrusted.ts";

/** What is known of a conversation that somebody went back in. */
export interface RewindRecord {
  /** The prompt right before which the conversation is gone on with. */
  readonly before: string;
  /** The newest line of the conversation that was left. */
  readonly leftUuid: string | null;
  /** What the conversation holds there, in tokens. */
  readonly tokens: number;
}

/**
 * The conversation goes on from an earlier line, on which this one hangs; it is null where that is the very start.
 * Whoever follows parents from the newest line finds things as they were then. Never sent.
 */
export interface RewindMark extends EntryLink {
  readonly type: "system";
  readonly subtype: "longhaul_rewind";
  readonly content: string;
  readonly level: "info";
  readonly rewind: RewindRecord;
}

function isRewindMark(entry: Entry): entry is RewindMark {
  if (!isEntry(entry) || entry.type !== "system" || entry.subtype !== "longhaul_rewind") return false;
  return stringField(field(entry, "rewind"), "before") !== undefined;
}

/** Of a line by which a conversation goes on from an earlier one, by an undo or a rewind: where it does. */
export function turnedBack(entry: Entry): RewindRecord | undefined {
  if (isUndoMark(entry)) return entry.undo;
  return isRewindMark(entry) ? entry.rewind : undefined;
}
