import { LonghaulError } from "@longhaul/core/errors";
import { hasOpenCalls, isEntry } from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import type { ModelUsage } from "@longhaul/core/models";
import { updateNotes } from "./built-in/update-notes.ts";
import { type ExtractionOutcome, type ExtractionRequest, extractNotes } from "./extract-notes.ts";
import {
  emptyNotes,
  formatNotes,
  measureNotes,
  type Notes,
  type NotesFile,
  type NotesSection,
  notedUpTo,
  parseNotes,
} from "./notes-format.ts";

/** Maximum merges during one update. If a file changes more often, a program edits it, not a person. */
const MAX_MERGES = 3;

/** A due notes update, with the conversation at the time it became due. */
export interface NotesTask extends Omit<ExtractionRequest, "notes" | "path" | "fresh" | "signal"> {
  readonly file: NotesFile;
  /** Returns true if there are enough new entries to justify the cost of an update. Default: always. */
  readonly isEnough?: ((fresh: readonly Entry[]) => boolean) | undefined;
  readonly signal: AbortSignal;
}

interface NotesUpdate extends Pick<ExtractionOutcome, "edits" | "refused" | "calls"> {
  readonly by: ExtractionOutcome["by"] | "built-in";
  readonly usage: ModelUsage | undefined;
  readonly tokens: number;
  readonly isRemembered: boolean;
}

/**
 * Reads the notes file, adds the new entries to the notes, and writes the file. Returns undefined if there
 * are no new entries or too few.
 */
export async function bringNotesUpToDate(task: NotesTask): Promise<NotesUpdate | undefined> {
  const { file, template, entries, signal } = task;
  const text = await file.read();
  const before = text === undefined ? emptyNotes(template) : parseNotes(text, template);
  const fresh = entriesToNote(before, entries);
  if (fresh.length === 0 || task.isEnough?.(fresh) === false) return undefined;
  const written = await write(task, before, fresh);
  signal.throwIfAborted();
  // Not all entries are noted while a tool call has no result, or if an edit was refused.
  const isAllNoted = written.isComplete && !hasOpenCalls(entries);
  const newest = isAllNoted ? entries.findLast(hasUuid)?.uuid : undefined;
  // Notes without an id count as covering all messages, so these notes get an empty id instead of none.
  const ours = { ...written.notes, coveredUuid: newest ?? before.coveredUuid ?? "" };
  const saved = await saveNotes(task, { text, before, ours });
  const { by, edits, refused, calls, usage } = written;
  const { tokens } = measureNotes(saved, task.countTokens);
  const isRemembered = newest !== undefined && saved.coveredUuid === newest;
  return { by, edits, refused, calls, usage, tokens, isRemembered };
}

type Written = Pick<NotesUpdate, "by" | "edits" | "refused" | "calls" | "usage"> &
  Pick<ExtractionOutcome, "notes" | "isComplete">;

async function write(task: NotesTask, notes: Notes, fresh: readonly Entry[]): Promise<Written> {
  const { limits, countTokens, model, fork } = task;
  if (model !== undefined || fork !== undefined) {
    return await extractNotes({ ...task, path: task.file.path, notes, fresh });
  }
  const updated = updateNotes(notes, fresh, { limits, countTokens });
  const edits = changedSections(notes, updated);
  // If the template has no section that the built-in writer can fill, the notes do not contain the new
  // entries.
  const isComplete = updated === notes || edits > 0;
  return { notes: updated, by: "built-in", edits, refused: 0, calls: 0, usage: undefined, isComplete };
}

/** Counts the sections whose text changed. */
export function changedSections(before: Notes, after: Notes): number {
  return after.sections.filter((section, at) => section.body !== before.sections[at]?.body).length;
}

/**
 * Returns the entries after the newest noted message. Returns all entries if that message is unknown or
 * missing.
 */
function entriesToNote({ coveredUuid }: Notes, entries: readonly Entry[]): readonly Entry[] {
  return coveredUuid === undefined ? entries : entries.slice(notedUpTo(entries, coveredUuid));
}

const hasUuid = (entry: Entry): boolean => isEntry(entry) && entry.uuid !== undefined;

interface NotesChange {
  /** Text of the file when it was read. */
  readonly text: string | undefined;
  readonly before: Notes;
  readonly ours: Notes;
}

/**
 * Writes the notes. If a person has changed the file since it was read, merges both changes. No text of the
 * person is overwritten.
 */
export async function saveNotes(
  { file, template }: Pick<NotesTask, "file" | "template">,
  { text, before, ours }: NotesChange,
): Promise<Notes> {
  if (await file.write(formatNotes(ours), text)) return ours;
  for (let tries = 0; tries < MAX_MERGES; tries++) {
    const current = await file.read();
    const theirs = current === undefined ? emptyNotes(template) : parseNotes(current, template);
    const notes = mergeNotes(before, ours, theirs);
    if (await file.write(formatNotes(notes), current)) return notes;
  }
  throw new LonghaulError("notes-changed", `${file.path} keeps changing while longhaul updates it.`, {
    remedy:
      "Close the program that writes to the file. longhaul lost nothing and tries again at the next update.",
    facts: { path: file.path },
  });
}

/**
 * Merges two changes to the same notes. `theirs` contains the person's edits in the file, and `ours` contains
 * the notes of this update. If both changed a section, keeps the person's text. In that case, the next update
 * notes the same entries again.
 */
export function mergeNotes(base: Notes, ours: Notes, theirs: Notes): Notes {
  const bodyIn = ({ sections }: Notes, { heading }: NotesSection): string =>
    sections.find((section) => section.heading === heading)?.body ?? "";
  let isAllOfOurs = true;
  const sections = theirs.sections.map((section) => {
    const [before, wished] = [bodyIn(base, section), bodyIn(ours, section)];
    if (wished === before || wished === section.body) return section;
    if (section.body === before) return { ...section, body: wished };
    isAllOfOurs = false;
    return section;
  });
  // The new message id is valid only if the file still has the id from before the update. If the person
  // emptied or replaced the file, the file covers fewer messages.
  const isContinued = theirs.coveredUuid === base.coveredUuid;
  const coveredUuid = isAllOfOurs && isContinued ? ours.coveredUuid : (theirs.coveredUuid ?? "");
  return { ...theirs, sections, coveredUuid };
}
