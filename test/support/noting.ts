import type { Entry } from "@longhaul/core";
import { updateNotes } from "../../packages/notes/src/built-in/update-notes.ts";
import type { Notes, NotesLimits, NotesTemplate } from "../../packages/notes/src/notes-format.ts";
import { emptyNotes, NOTES_LIMITS, nameKey, sectionName } from "../../packages/notes/src/notes-format.ts";
import { NOTES_TEMPLATE, parseTemplate } from "../../packages/notes/src/template.ts";
import { ConversationBuilder } from "./builders.ts";

export const notesTemplate: NotesTemplate = parseTemplate(NOTES_TEMPLATE);

/** Counts a token for every three characters, so that counts of parts add up and every word counts. */
export const countByLength = (text: string): number => Math.ceil(text.length / 3);

export type Tell = (session: ConversationBuilder) => void;

/** Returns the built-in notes after these conversations, with one update for each. */
export function noted(...tells: readonly Tell[]): Notes {
  return notedOn(emptyNotes(notesTemplate), NOTES_LIMITS, ...tells);
}

export function notedOn(before: Notes, limits: NotesLimits, ...tells: readonly Tell[]): Notes {
  return tells.reduce((notes, tell, at) => {
    const session = new ConversationBuilder(`part${at}`);
    tell(session);
    return update(notes, session.entries, limits);
  }, before);
}

export function update(notes: Notes, fresh: readonly Entry[], limits: NotesLimits = NOTES_LIMITS): Notes {
  return updateNotes(notes, fresh, { limits, countTokens: countByLength });
}

export function withBody(notes: Notes, name: string, body: string): Notes {
  const isTarget = (heading: string): boolean => nameKey(heading) === nameKey(name);
  const sections = notes.sections.map((section) =>
    isTarget(section.heading) ? { ...section, body } : section,
  );
  return { ...notes, sections };
}

export function bodyOf(notes: Notes, name: string): string {
  return notes.sections.find(({ heading }) => sectionName(heading) === name)?.body ?? "";
}

export function linesOf(notes: Notes, name: string): string[] {
  return bodyOf(notes, name).split("\n");
}
