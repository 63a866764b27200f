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

/** Undo and rewind in session lines: the marks, and the step that can be undone. */

/** A step that can be undone: the conversation before the step, and the messages since the step. */
export interface StepBack {
  readonly step: {
    readonly kind: StepKind;
    /** The first line that the step wrote. */
    readonly first: Entry;
    /** Set if the step is an undo, which a redo reverts. */
    readonly undo?: UndoRecord;
  };
  readonly before: {
    readonly entries: readonly Entry[];
    /**
     * Uuid of the newest line before the step. A line that continues from there has this uuid as its parent.
     */
    readonly leafUuid: string | undefined;
    readonly boundary: CompactBoundaryEntry | undefined;
    readonly clearedToolUseIds: ReadonlySet<string>;
  };
  /**
   * Lines from before the step. The host edited copies of these lines later. `before` includes the edits, and
   * the undo writes these lines again under their original ids.
   */
  readonly edited?: readonly Entry[];
  /** Lines of `before` that have another parent now. The undo writes them again with their old parent. */
  readonly moved?: readonly Entry[];
  /** Messages since the step, oldest first, in the form to send. */
  readonly since: readonly Entry[];
}

/** Returns the record of an undo or rewind mark: the point from which the conversation continues. */
export function rewindRecordOf(entry: Entry): RewindRecord | undefined {
  if (isUndoMark(entry)) return entry.undo;
  return isRewindMark(entry) ? entry.rewind : undefined;
}

/**
 * Returns the record of an undo mark, or of a boundary that an undo wrote. The earlier conversation follows
 * that boundary, because some agents read only from the last boundary on.
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
