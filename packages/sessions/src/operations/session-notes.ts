import { LonghaulError } from "@longhaul/core/errors";
import { type SizedConversation, sizeUp } from "@longhaul/core/internal/compaction";
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
import { coverageOf, type NotesCoverage, notNotedYet } from "./notes-coverage.ts";
import { notesFile, notesPath } from "./notes-file.ts";
import { type NoteOptions, type NotesTally, NotesWork } from "./notes-work.ts";
import { type SessionHistory, sessionHistory } from "./session-history.ts";

export interface NotesPlace {
  /** Where the notes are; beside the session unless given. */
  readonly file?: NotesFile | undefined;
  /** Markdown. That of the notes which are there unless given, or else ours. */
  readonly template?: string | undefined;
}

export interface ReadNotes {
  readonly path: string;
  /** The file as it was read. */
  readonly text: string;
  readonly notes: Notes;
  readonly template: NotesTemplate;
  readonly coverage: NotesCoverage;
}

/** Undefined where there are none: no file, or nothing noted in it. */
export async function readNotes(session: Session, place: NotesPlace = {}): Promise<ReadNotes | undefined> {
  const { file, text, template, notes } = await open(session, place);
  if (text === undefined || isOnlyTemplate(notes)) return undefined;
  return { path: file.path, text, template, notes, coverage: coverageOf(notes, sessionHistory(session)) };
}

/** True where {@link readNotes} finds notes, without the session. */
export async function hasNotes(sessionPath: string): Promise<boolean> {
  const { text, notes } = await open({ path: sessionPath }, {});
  return text !== undefined && !isOnlyTemplate(notes);
}

export interface BuildNotesOptions extends NotesPlace, NoteOptions {
  readonly limits?: NotesLimits | undefined;
  readonly countTokens?: CountText | undefined;
  /** Begin anew: what has been noted is replaced. What a person wrote above the first heading stays. */
  readonly rebuild?: boolean | undefined;
  /** Time limits of each step: 60 seconds for a first byte and 300 seconds in all by default. */
  readonly timeLimits?: Partial<ModelTimeLimits> | undefined;
}

export interface BuiltNotes extends ReadNotes, NotesTally {
  readonly outcome: "built" | "updated" | "rebuilt" | "up-to-date";
  readonly by: "model" | "built-in";
  /** How many messages were read for it. */
  readonly messages: number;
}

/**
 * Brings the notes of a session up to date, or builds them where there are none: of everything that was said in it,
 * also before its compactions. Only what they do not hold yet is read. Notes that do not say how far they reach, or
 * not by a message of this session, are somebody's work: they are left alone with an error, unless `rebuild` is asked
 * for. With a model each step is written, so that what was paid for is not lost; without one all is written at once.
 */
export async function buildNotes(session: Session, options: BuildNotesOptions = {}): Promise<BuiltNotes> {
  const opened = await open(session, options);
  const history = sessionHistory(session);
  const isEmpty = isOnlyTemplate(opened.notes);
  const isNew = isEmpty || options.rebuild === true;
  const fresh = isNew ? notNotedYet(history, 0) : freshFor(opened, history);
  const messages = countMessages(fresh);
  const base = isNew ? restarted(opened) : opened.notes;
  // Notes that are begun anew share nothing with what a person may change meanwhile.
  const origin = isEmpty ? opened : { ...opened, notes: base };
  const work = new NotesWork({
    ...options,
    ...origin,
    history,
    limits: options.limits ?? NOTES_LIMITS,
    countTokens: options.countTokens ?? counterFor(session),
    timeLimits: timeLimitsOf(options.timeLimits),
  });
  // Notes that are begun anew must lose what they had also where there is nothing to note.
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
 * For after a rewind. Notes that know what was left are built anew, without a model, of all that led to the conversation
 * as it is now: in a compaction they would bring back what somebody went back from. Others stay as they are, among them
 * those that do not say how far they reach.
 */
export async function takeNotesBack(session: Session, place: NotesPlace = {}): Promise<void> {
  const covered = (await open(session, place)).notes.coveredUuid ?? "";
  const isHere = covered !== "" && indexOfMessage(session.entries, covered) !== -1;
  const { entries } = sessionHistory(session);
  const current = entries[indexInConversation(entries, session.entries, covered)]?.uuid ?? covered;
  const isLeft = isHere && notedUpTo(entries, current) === undefined;
  if (isLeft) await buildNotes(session, { ...place, rebuild: true });
}

/** The model never answered, so that the built-in writer noted everything. */
const isAllBuiltIn = ({ calls, fallback }: NotesTally): boolean => fallback !== undefined && calls === 0;

interface OpenedNotes {
  readonly file: NotesFile;
  readonly text: string | undefined;
  readonly notes: Notes;
  /** By which the notes are to be kept. */
  readonly template: NotesTemplate;
  /** Whether the notes that are there have other sections. */
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

/** Notes that name no message are taken to know them all: these say from the start that they do not. */
const restarted = ({ template, notes }: OpenedNotes): Notes => ({
  ...emptyNotes(template),
  preface: notes.preface,
  coveredUuid: "",
});

function freshFor(opened: OpenedNotes, history: SessionHistory): readonly Entry[] {
  const { path } = opened.file;
  const coverage = coverageOf(opened.notes, history);
  if (coverage.state === "known" && !opened.isOtherTemplate) return coverage.fresh;
  const what = opened.isOtherTemplate
    ? "have other sections than the template"
    : coverage.state === "not-found"
      ? `reach up to message ${coverage.uuid}, which is not in this session`
      : "do not say up to which message they reach";
  throw new LonghaulError("notes-unplaced", `The notes in ${path} ${what}; they were left as they are.`, {
    remedy: "To replace them by notes of the whole session, ask for them to be rebuilt (--rebuild).",
    facts: { path },
  });
}

/** Counts as the provider would, at the ratio that `inspect` counts the conversation with. */
export function counterFor(
  session: Pick<Session, "conversation" | "clearedToolUseIds">,
  sized?: SizedConversation,
): CountText {
  const { conversation: entries, clearedToolUseIds } = session;
  const { ratio } = sizeUp({ entries, clearedToolUseIds }, { sized });
  return (text) => Math.round(ESTIMATORS.o200k(text) * ratio);
}

/**
 * The template that notes were made from, by the file itself: nobody should have to name it again each time. Ours
 * where the file has no other sections than those.
 */
function templateIn(text: string): NotesTemplate {
  const ours = parseTemplate(NOTES_TEMPLATE);
  const sections = sectionsIn(text);
  return sections.every((section) => has(ours, section)) ? ours : { sections };
}

/** Whether notes with these sections could go on with that template. */
function isSameTemplate(one: NotesTemplate, other: NotesTemplate): boolean {
  return one.sections.some((section) => has(other, section));
}

const has = ({ sections }: NotesTemplate, { heading }: NotesHeading): boolean =>
  sections.some((section) => section.heading === heading);

/** A heading with an italic line right below it; each once. */
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
