import { type CompactBoundaryEntry, type Entry, type EntryLink, isCompactBoundary } from "./entry.ts";
import { field, stringField } from "./fields.ts";
import { isEntry } from "./untrusted.ts";

/** What changed a conversation as a whole, and can be taken back. */
export type StepKind = "compaction" | "collapse" | "expansion" | "snip";

/** What is known of a step that was taken back, or of an undo that was: enough to go either way again. */
export interface UndoRecord {
  readonly direction: "undo" | "redo";
  readonly step: StepKind;
  /** The line right before which the conversation is continued: the first of the step, or the undo's mark. */
  readonly before: string;
  /** The newest line of the conversation that was left, to which a redo goes back. */
  readonly leftUuid: string | null;
  /** The first of the copies of what had come since; absent where nothing had. */
  readonly carriedFrom?: string;
  /** What the conversation holds with it, in tokens. */
  readonly tokens: number;
  /** The last line that was written with it: where it is missing, the writer died and nothing of it counts. */
  readonly endsWith?: string;
}

/**
 * The conversation goes on from an earlier line, on which this one hangs: nothing that was written is touched, and
 * whoever follows parents from the newest line finds things as they were. Never sent.
 */
export interface UndoMark extends EntryLink {
  readonly type: "system";
  readonly subtype: "longhaul_undo";
  readonly content: string;
  readonly level: "info";
  readonly undo: UndoRecord;
}

/** A step that can be taken back: what there was before it, and what came since. */
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

export function isUndoMark(entry: Entry): entry is UndoMark {
  if (!isEntry(entry) || entry.type !== "system" || entry.subtype !== "longhaul_undo") return false;
  return stringField(field(entry, "undo"), "before") !== undefined;
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
