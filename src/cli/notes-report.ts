import { timeOf } from "../conversation/copies.ts";
import { countMessages } from "../conversation/flatten/flatten.ts";
import type { NotesCoverage } from "../host/notes-coverage.ts";
import { type BuiltNotes, counterFor, type ReadNotes } from "../host/session-notes.ts";
import type { ModelUsage } from "../models/port.ts";
import type { NotesLimits } from "../notes/notes-format.ts";
import { measureNotes, type NotesSize, overLimits, sectionName } from "../notes/notes-format.ts";
import type { Session } from "../transcript/session.ts";
import { costOf } from "../window/prices.ts";

/** The shape that `notes --json` prints. Stable: other programs read it; see docs/json.md. */
export interface NotesReport extends NotesFigures {
  readonly session: { readonly id: string; readonly path: string };
  /** What was done: nothing but to show them, or how they came about. */
  readonly outcome: "shown" | BuiltNotes["outcome"];
  readonly written: boolean;
  /** How they were written just now; null where they were not. */
  readonly work: NotesWorkReport | null;
  /** What a person wrote above the first heading. */
  readonly preface: string;
  readonly sections: readonly NotesSectionReport[];
}

/** What `inspect` tells of them, too. */
export interface NotesFigures {
  readonly path: string;
  readonly tokens: number;
  readonly limits: NotesLimits;
  /** Names of sections that are longer than they should be. */
  readonly overLimit: readonly string[];
  readonly covers: CoverageReport;
}

export interface NotesSectionReport {
  readonly name: string;
  readonly tokens: number;
  readonly text: string;
}

export interface CoverageReport {
  readonly state: NotesCoverage["state"];
  /** The newest message that is in the notes, by what they say. */
  readonly uuid: string | null;
  readonly timestamp: string | null;
  /** Messages that are not in the notes; null where that cannot be told. */
  readonly newer: number | null;
}

export interface NotesWorkReport {
  readonly by: BuiltNotes["by"];
  readonly model: string | null;
  /** How many messages were read for it. */
  readonly messages: number;
  readonly calls: number;
  readonly edits: number;
  readonly refused: number;
  /** False where edits were refused and never put right: it ended there. */
  readonly complete: boolean;
  /** The model did not answer in time: why, and how many messages were noted without it. */
  readonly fallback: { readonly reason: string; readonly messages: number } | null;
  readonly usage: ModelUsage | null;
  readonly cost: number | null;
}

export function notesFigures(session: Session, read: ReadNotes, limits: NotesLimits): NotesFigures {
  return figuresOf(read, measureNotes(read.notes, counterFor(session)), limits);
}

function figuresOf(read: ReadNotes, size: NotesSize, limits: NotesLimits): NotesFigures {
  const overLimit = overLimits(size, limits).sections.map(({ heading }) => sectionName(heading));
  return { path: read.path, tokens: size.tokens, limits, overLimit, covers: coverageReport(read) };
}

export function notesReport(
  session: Session,
  read: ReadNotes | BuiltNotes,
  limits: NotesLimits,
  model: string | undefined,
): NotesReport {
  const size = measureNotes(read.notes, counterFor(session));
  const built = "outcome" in read ? read : undefined;
  return {
    session: { id: session.id, path: session.path },
    ...figuresOf(read, size, limits),
    outcome: built?.outcome ?? "shown",
    written: built?.isWritten ?? false,
    work: built === undefined || built.outcome === "up-to-date" ? null : workReport(built, model),
    preface: read.notes.preface,
    sections: read.notes.sections.map(({ heading, body }, at) => ({
      name: sectionName(heading),
      tokens: size.sections[at]?.tokens ?? 0,
      text: body,
    })),
  };
}

function coverageReport({ coverage, notes }: ReadNotes): CoverageReport {
  const isKnown = coverage.state === "known";
  return {
    state: coverage.state,
    uuid: notes.coveredUuid || null,
    timestamp: isKnown && coverage.upTo !== undefined ? (timeOf(coverage.upTo) ?? null) : null,
    newer: isKnown ? countMessages(coverage.fresh) : null,
  };
}

function workReport(built: BuiltNotes, model: string | undefined): NotesWorkReport {
  const { by, messages, calls, edits, refused, usage, isComplete, fallback } = built;
  return {
    by,
    model: model ?? null,
    messages,
    calls,
    edits,
    refused,
    complete: isComplete,
    fallback: fallback ?? null,
    usage: usage ?? null,
    cost: (usage && model !== undefined ? costOf(usage, model) : undefined) ?? null,
  };
}
