import type { CountText } from "../../tokens/measure.ts";
import type { Notes, NotesLimits } from "./notes.ts";

/**
 * For the usual windows; smaller ones have them in proportion. A section that is longer is a log and no note; and all
 * of them are in the context after every compaction, so that more would bring the next one closer.
 */
export const NOTES_LIMITS: NotesLimits = Object.freeze({ sectionTokens: 2_000, totalTokens: 12_000 });

export interface NotesSectionSize {
  readonly heading: string;
  readonly tokens: number;
}

/** What has been noted. Headings, italic lines and what stands above them do not count: nobody can condense them. */
export interface NotesSize {
  readonly tokens: number;
  readonly sections: readonly NotesSectionSize[];
}

export interface NotesExcess {
  readonly sections: readonly NotesSectionSize[];
  readonly isTotalOver: boolean;
}

export function measureNotes(notes: Notes, countTokens: CountText): NotesSize {
  const sections = notes.sections.map(({ heading, body }) => ({
    heading,
    tokens: body === "" ? 0 : countTokens(body),
  }));
  return { tokens: sections.reduce((sum, { tokens }) => sum + tokens, 0), sections };
}

/** What the next request must ask to be condensed. */
export function overLimits(measured: NotesSize, limits: NotesLimits): NotesExcess {
  return {
    sections: measured.sections.filter(({ tokens }) => tokens > limits.sectionTokens),
    isTotalOver: measured.tokens > limits.totalTokens,
  };
}
