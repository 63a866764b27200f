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

/** A person saves a file seldom; one that changes this often is not written by a person. */
const MOST_MERGES = 3;

/** Notes that are due: the conversation as it was when that was found. */
export interface NotesTask extends Omit<ExtractionRequest, "notes" | "path" | "fresh" | "signal"> {
  readonly file: NotesFile;
  /** True if enough is new to be worth the cost; always unless given. */
  readonly isEnough?: ((fresh: readonly Entry[]) => boolean) | undefined;
  readonly signal: AbortSignal;
}

interface NotesUpdate extends Pick<ExtractionOutcome, "edits" | "refused" | "calls"> {
  readonly by: ExtractionOutcome["by"] | "built-in";
  readonly usage: ModelUsage | undefined;
  readonly tokens: number;
  readonly isRemembered: boolean;
}

/** Reads the notes, has what is new noted, and writes them. Undefined where there is nothing new, or too little. */
export async function bringNotesUpToDate(task: NotesTask): Promise<NotesUpdate | undefined> {
  const { file, template, entries, signal } = task;
  const text = await file.read();
  const before = text === undefined ? emptyNotes(template) : parseNotes(text, template);
  const fresh = notNotedYet(before, entries);
  if (fresh.length === 0 || task.isEnough?.(fresh) === false) return undefined;
  const written = await write(task, before, fresh);
  signal.throwIfAborted();
  // While a call is open its result is still to come, and what was refused is still to be noted.
  const isAllNoted = written.isComplete && !hasOpenCalls(entries);
  const newest = isAllNoted ? entries.findLast(hasUuid)?.uuid : undefined;
  // Notes that name no message are taken to know them all: what we write says that it does not.
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
  // A template may have no section that can be filled without a model: then what is new is in none of them.
  const isComplete = updated === notes || edits > 0;
  return { notes: updated, by: "built-in", edits, refused: 0, calls: 0, usage: undefined, isComplete };
}

/** How many sections say something else now. */
export function changedSections(before: Notes, after: Notes): number {
  return after.sections.filter((section, at) => section.body !== before.sections[at]?.body).length;
}

/** Entries after the newest noted message; all of them if that is not known or no longer here. */
function notNotedYet({ coveredUuid }: Notes, entries: readonly Entry[]): readonly Entry[] {
  return coveredUuid === undefined ? entries : entries.slice(notedUpTo(entries, coveredUuid));
}

const hasUuid = (entry: Entry): boolean => isEntry(entry) && entry.uuid !== undefined;

interface NotesChange {
  /** The file as it was read. */
  readonly text: string | undefined;
  readonly before: Notes;
  readonly ours: Notes;
}

/** A person may have changed the file while the notes were written: nothing of theirs is overwritten. */
export async function saveNotes(
  { file, template }: Pick<NotesTask, "file" | "template">,
  { text, before, ours }: NotesChange,
): Promise<Notes> {
  if (await file.write(formatNotes(ours), text)) return ours;
  for (let tries = 0; tries < MOST_MERGES; tries++) {
    const current = await file.read();
    const theirs = current === undefined ? emptyNotes(template) : parseNotes(current, template);
    const notes = mergeNotes(before, ours, theirs);
    if (await file.write(formatNotes(notes), current)) return notes;
  }
  throw new LonghaulError("notes-changed", `Others change ${file.path} all the time.`, {
    remedy: "Nothing was lost: the notes are brought up to date the next time.",
    facts: { path: file.path },
  });
}

/**
 * Two changes to the same notes as one: what a person wrote into the file meanwhile, and what was noted at the same
 * time. Where both changed a section, the person's words stand and ours are left for the next time.
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
  // Ours go on from where the notes were. Theirs may be others by now, emptied or begun anew, and hold less than that.
  const isContinued = theirs.coveredUuid === base.coveredUuid;
  const coveredUuid = isAllOfOurs && isContinued ? ours.coveredUuid : (theirs.coveredUuid ?? "");
  return { ...theirs, sections, coveredUuid };
}
