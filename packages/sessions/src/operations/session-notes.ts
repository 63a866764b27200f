import { LonghaulError } from "@longhaul/core/errors";
import { measureConversation, type SizedConversation } from "@longhaul/core/internal/compaction";
import { indexInConversation, indexOfMessage } from "@longhaul/core/internal/messages";
import { timeLimitsOf } from "@longhaul/core/internal/models";
import { countMessages } from "@longhaul/core/internal/request";
import { type CountText, ESTIMATORS } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import type { ModelTimeLimits } from "@longhaul/core/models";
import {
  emptyNotes,
  formatNotes,
  isHeadingLine,
  isItalicLine,
  isOnlyTemplate,
  linesOf,
  NOTES_LIMITS,
  NOTES_TEMPLATE,
  type Notes,
  type NotesFile,
  type NotesHeading,
  type NotesLimits,
  type NotesTemplate,
  notedUpTo,
  parseNotes,
  parseTemplate,
} from "@longhaul/notes/internal/format";
import type { Session } from "../transcript/load.ts";
import { coverageOf, entriesToNote, type NotesCoverage } from "./notes-coverage.ts";
import { notesFile, notesPath } from "./notes-file.ts";
import { type NoteOptions, type NotesTally, NotesWork } from "./notes-work.ts";
import { type SessionHistory, sessionHistory } from "./session-history.ts";

export interface NotesPlace {
  /** File of the notes. Default: beside the session. */
  readonly file?: NotesFile | undefined;
  /** Template in Markdown. Default: the template of the existing notes, or the built-in one. */
  readonly template?: string | undefined;
}

export interface ReadNotes {
  readonly path: string;
  /** Text of the file when it was read. */
  readonly text: string;
  readonly notes: Notes;
  readonly template: NotesTemplate;
  readonly coverage: NotesCoverage;
}

/** Reads the notes of a session. Returns undefined if there is no notes file or it is empty. */
export async function readNotes(session: Session, place: NotesPlace = {}): Promise<ReadNotes | undefined> {
  const { file, text, template, notes } = await open(session, place);
  if (text === undefined || isOnlyTemplate(notes)) return undefined;
  return { path: file.path, text, template, notes, coverage: coverageOf(notes, sessionHistory(session)) };
}

/** Checks whether {@link readNotes} would find notes. Does not need the session. */
export async function hasNotes(sessionPath: string): Promise<boolean> {
  const { text, notes } = await open({ path: sessionPath }, {});
  return text !== undefined && !isOnlyTemplate(notes);
}

export interface BuildNotesOptions extends NotesPlace, NoteOptions {
  readonly limits?: NotesLimits | undefined;
  readonly countTokens?: CountText | undefined;
  /** Replace the existing notes. A person's text above the first heading stays. */
  readonly rebuild?: boolean | undefined;
  /** Time limits of each step. Default: 60 seconds for the first byte and 300 seconds in total. */
  readonly timeLimits?: Partial<ModelTimeLimits> | undefined;
}

export interface BuiltNotes extends ReadNotes, NotesTally {
  readonly outcome: "built" | "updated" | "rebuilt" | "up-to-date";
  readonly by: "model" | "built-in";
  /** Number of messages that were read. */
  readonly messages: number;
}

/**
 * Updates the notes of a session with the messages that the notes do not cover yet. If there are no notes,
 * builds them from the whole session, including messages before compactions. If the notes do not name a
 * message of this session, throws, because somebody else may have written the notes. With `rebuild`, replaces
 * the notes instead. With a model, writes the file after each step, so that paid work is not lost. Without a
 * model, writes the file once at the end.
 */
export async function buildNotes(session: Session, options: BuildNotesOptions = {}): Promise<BuiltNotes> {
  const opened = await open(session, options);
  const history = sessionHistory(session);
  const isEmpty = isOnlyTemplate(opened.notes);
  const isNew = isEmpty || options.rebuild === true;
  const fresh = isNew ? entriesToNote(history, 0) : freshFor(opened, history);
  const messages = countMessages(fresh);
  const base = isNew ? restarted(opened) : opened.notes;
  // Notes that are built from the start replace the old notes. If a person edits the old notes meanwhile,
  // these edits cannot be merged.
  const origin = isEmpty ? opened : { ...opened, notes: base };
  const work = new NotesWork({
    ...options,
    ...origin,
    history,
    limits: options.limits ?? NOTES_LIMITS,
    countTokens: options.countTokens ?? counterFor(session),
    timeLimits: timeLimitsOf(options.timeLimits),
  });
  // Rebuilt notes must lose their old content, even if there is nothing to note.
  const isDone = messages === 0 && (isEmpty || !isNew);
  const notes = isDone ? opened.notes : await work.note(base, fresh);
  const { file, template } = opened;
  const text = isDone ? (opened.text ?? "") : formatNotes(notes);
  return {
    ...{ path: file.path, text, notes, template, coverage: coverageOf(notes, history), messages },
    outcome: isDone ? "up-to-date" : isEmpty ? "built" : isNew ? "rebuilt" : "updated",
    by: options.model === undefined || isAllBuiltIn(work.tally) ? "built-in" : "model",
    ...work.tally,
  };
}

/**
 * Updates the notes after a rewind. If the notes cover abandoned messages, they are rebuilt without a model
 * from everything that led to the current conversation. Otherwise a compaction would bring back what the
 * rewind removed. If the notes cover no abandoned message, or name no message, they stay unchanged.
 */
export async function undoNotes(session: Session, place: NotesPlace = {}): Promise<void> {
  const covered = (await open(session, place)).notes.coveredUuid ?? "";
  const isHere = covered !== "" && indexOfMessage(session.entries, covered) !== -1;
  const { entries } = sessionHistory(session);
  const current = entries[indexInConversation(entries, session.entries, covered)]?.uuid ?? covered;
  const isLeft = isHere && notedUpTo(entries, current) === undefined;
  if (isLeft) await buildNotes(session, { ...place, rebuild: true });
}

/** Checks whether the model never answered and the built-in writer noted everything. */
const isAllBuiltIn = ({ calls, fallback }: NotesTally): boolean => fallback !== undefined && calls === 0;

interface OpenedNotes {
  readonly file: NotesFile;
  readonly text: string | undefined;
  readonly notes: Notes;
  /** Template of the resulting notes. */
  readonly template: NotesTemplate;
  /** True if the existing notes have other sections than the template. */
  readonly isOtherTemplate: boolean;
}

async function open(
  session: Pick<Session, "path">,
  { file: given, template: wanted }: NotesPlace,
): Promise<OpenedNotes> {
  const file = given ?? notesFile(notesPath(session.path));
  const text = await file.read();
  const present = templateIn(text ?? "");
  const template = wanted === undefined ? present : parseTemplate(wanted);
  if (text === undefined) {
    return { file, text, template, notes: emptyNotes(template), isOtherTemplate: false };
  }
  const notes = parseNotes(text, isSameTemplate(present, template) ? template : present);
  const isOtherTemplate = !isOnlyTemplate(notes) && !isSameTemplate(present, template);
  return { file, text, template, notes, isOtherTemplate };
}

/**
 * Creates empty notes for a rebuild. Their covered id is empty, because notes without an id count as covering
 * all messages.
 */
const restarted = ({ template, notes }: OpenedNotes): Notes => ({
  ...emptyNotes(template),
  preface: notes.preface,
  coveredUuid: "",
});

function freshFor(opened: OpenedNotes, history: SessionHistory): readonly Entry[] {
  const { path } = opened.file;
  const coverage = coverageOf(opened.notes, history);
  if (coverage.state === "known" && !opened.isOtherTemplate) return coverage.fresh;
  if (opened.isOtherTemplate) {
    throw new LonghaulError(
      "notes-template-differs",
      `The notes in ${path} have other sections than the template. longhaul did not change them.`,
      { remedy: REBUILD, facts: { path } },
    );
  }
  const why =
    coverage.state === "not-found"
      ? `they end at message ${coverage.uuid}, which is not in this session`
      : "they do not name the last message that they cover";
  throw new LonghaulError(
    "notes-unplaced",
    `longhaul cannot update the notes in ${path}: ${why}. longhaul did not change them.`,
    { remedy: REBUILD, facts: { path } },
  );
}

const REBUILD = "To replace them with notes of the whole session, run `longhaul notes SESSION --rebuild`.";

/**
 * Creates a token counter that estimates the provider's count. It uses the same ratio as `inspect` uses for
 * the conversation.
 */
export function counterFor(
  session: Pick<Session, "conversation" | "clearedToolUseIds">,
  sized?: SizedConversation,
): CountText {
  const { conversation: entries, clearedToolUseIds } = session;
  const { ratio } = measureConversation({ entries, clearedToolUseIds }, { sized });
  return (text) => Math.round(ESTIMATORS.o200k(text) * ratio);
}

/**
 * Derives the template from the notes file, so that nobody has to pass the template each time. If the file
 * has no headings other than the built-in ones, returns the built-in template.
 */
function templateIn(text: string): NotesTemplate {
  const ours = parseTemplate(NOTES_TEMPLATE);
  const sections = sectionsIn(text);
  return sections.every((section) => has(ours, section)) ? ours : { sections };
}

/**
 * Checks whether two templates share a heading. If they do, notes with one template can continue with the
 * other.
 */
function isSameTemplate(one: NotesTemplate, other: NotesTemplate): boolean {
  return one.sections.some((section) => has(other, section));
}

const has = ({ sections }: NotesTemplate, { heading }: NotesHeading): boolean =>
  sections.some((section) => section.heading === heading);

/** Finds each heading with an italic line directly below it, once. */
function sectionsIn(text: string): readonly NotesHeading[] {
  const lines = linesOf(text);
  const found = new Map<string, NotesHeading>();
  for (const [at, line] of lines.entries()) {
    const heading = line.trimEnd();
    const guide = lines[at + 1]?.trim() ?? "";
    if (isHeadingLine(heading) && isItalicLine(guide) && !found.has(heading)) {
      found.set(heading, { heading, guide });
    }
  }
  return [...found.values()];
}
