import {
  type CompactBoundaryEntry,
  type Entry,
  isCompactBoundary,
  isEntry,
  type RewindMark,
  type RewindRecord,
  type StepKind,
  type UndoMark,
  type UndoRecord,
} from "./entry.ts";
import { field, stringField } from "./untrusted.ts";

/** Undo and rewind as the lines of a session tell them: the marks, and the step that can be taken back. */

/** A step that can be taken back: the conversation before it, and the messages since. */
export interface StepBack {
  readonly step: {
    readonly kind: StepKind;
    /** The first line that was written for it. */
    readonly first: Entry;
    /** Set where it is an undo, which a redo takes back. */
    readonly undo?: UndoRecord;
  };
  readonly before: {
    readonly entries: readonly Entry[];
    /** What the next line was to hang on. */
    readonly leafUuid: string | undefined;
    readonly boundary: CompactBoundaryEntry | undefined;
    readonly clearedToolUseIds: ReadonlySet<string>;
  };
  /**
   * Lines of messages before the step whose copies the host edited later. `before` has the edits, and the undo writes
   * these lines again under their ids.
   */
  readonly edited?: readonly Entry[];
  /** Lines of `before` that hang elsewhere by now. The undo writes them again as they were. */
  readonly moved?: readonly Entry[];
  /** Messages, oldest first, as they are sent. */
  readonly since: readonly Entry[];
}

/** Of a line by which a conversation continues from an earlier one, by an undo or a rewind: where it does. */
export function turnedBack(entry: Entry): RewindRecord | undefined {
  if (isUndoMark(entry)) return entry.undo;
  return isRewindMark(entry) ? entry.rewind : undefined;
}

/**
 * The record of a mark, or of a boundary behind which a conversation was written again as it had been: agents that
 * read from the last boundary on would not find what lies before it.
 */
export function undoRecordOf(entry: Entry): UndoRecord | undefined {
  if (!isEntry(entry)) return undefined;
  if (isUndoMark(entry)) return entry.undo;
  if (!isCompactBoundary(entry)) return undefined;
  const record = field(entry.compactMetadata?.longhaul, "undo");
  return stringField(record, "before") === undefined ? undefined : (record as UndoRecord);
}

export function isUndoMark(entry: Entry): entry is UndoMark {
  if (!isEntry(entry) || entry.type !== "system" || entry.subtype !== "longhaul_undo") return false;
  return stringField(field(entry, "undo"), "before") !== undefined;
}

function isRewindMark(entry: Entry): entry is RewindMark {
  if (!isEntry(entry) || entry.type !== "system" || entry.subtype !== "longhaul_rewind") return false;
  return stringField(field(entry, "rewind"), "before") !== undefined;
}
