import { indexOfMessage, standsFor } from "@longhaul/core/internal/messages";
import type { CountText } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";

/** The two fixed lines of a section, from the template: the model alters neither. */
export interface NotesHeading {
  /** The whole line, such as `# Current State`. */
  readonly heading: string;
  /** The italic line below it, whole. */
  readonly guide: string;
}

/** The sections that notes have, in their order. At least one. */
export interface NotesTemplate {
  readonly sections: readonly NotesHeading[];
}

export interface NotesSection extends NotesHeading {
  /** Without blank lines around it; empty where nothing has been noted. */
  readonly body: string;
}

/** A session's notes. */
export interface Notes {
  /** A person's text above the first heading; kept as it is. */
  readonly preface: string;
  readonly sections: readonly NotesSection[];
  /**
   * The newest message that is in the notes, by its uuid. It stands in the same file, so that the two can never
   * part: a process that dies between them would otherwise drop messages that nobody noted. Undefined where the file
   * has none; empty, which is no message's, where it has one that cannot be read: then nothing may count as noted.
   */
  readonly coveredUuid: string | undefined;
}

export interface NotesFile {
  readonly path: string;
  /** Undefined where there is no such file. */
  read(): Promise<string | undefined>;
  /**
   * Puts the text in the place of what was read: whole or not at all. False, and nothing written, where the file is
   * no longer what was read: a person edits it too.
   */
  write(text: string, replacing: string | undefined): Promise<boolean>;
}

/** In tokens; the notes are part of every context that is made from them. */
export interface NotesLimits {
  readonly sectionTokens: number;
  readonly totalTokens: number;
}

/** An id that can stand in a comment and be found in a transcript: not only we write the file. */
const ID = /^[\w.:+/=@-]{1,128}$/;
const ID_COMMENT = /^<!--\s*longhaul: noted up to message (\S+)\s+-->$/;
/** A comment of ours, even if somebody changed it. */
const ID_COMMENT_START = /^\s*<!--\s*longhaul:/i;
const UNKNOWN_ID_COMMENT = "<!-- longhaul: noted up to an unknown message -->";

export function emptyNotes(template: NotesTemplate): Notes {
  const sections = template.sections.map((section) => ({ ...section, body: "" }));
  return { preface: "", sections, coveredUuid: undefined };
}

/**
 * The notes in a file that a person may have edited, or another program. Sections come in the template's order, each
 * once and none missing; every line that somebody wrote is in one of them or above the first.
 */
export function parseNotes(text: string, template: NotesTemplate): Notes {
  const notes = parseShownNotes(text, template);
  return { ...notes, ...readId(notes.preface) };
}

/**
 * {@link notesAsShown} read back: in what a model may have written no id is looked for. A heading that stands there
 * twice is one section, and an italic line of the template is nobody's note wherever it got to.
 */
export function parseShownNotes(text: string, template: NotesTemplate): Omit<Notes, "coveredUuid"> {
  const preface: string[] = [];
  const parts = new Map<string, string[][]>(template.sections.map(({ heading }) => [heading, []]));
  let current = preface;
  for (const line of linesOf(text)) {
    const begun = parts.get(line.trimEnd());
    if (begun === undefined) {
      current.push(line);
      continue;
    }
    current = [];
    begun.push(current);
  }
  const guides = new Set(template.sections.map(({ guide }) => guide));
  const sections = template.sections.map((section) => {
    const bodies = (parts.get(section.heading) ?? []).map((lines) =>
      joinLines(lines.filter((line) => !guides.has(line.trimEnd()))),
    );
    return { ...section, body: joinParts(bodies) };
  });
  return { preface: joinLines(preface), sections };
}

/** The comment may have got below something that a person wrote. The first one counts, since we write it on top. */
function readId(preface: string): Pick<Notes, "preface" | "coveredUuid"> {
  const lines = preface.split("\n");
  const at = lines.findIndex((line) => ID_COMMENT_START.test(line));
  if (at === -1) return { preface, coveredUuid: undefined };
  const line = lines[at]?.trim() ?? "";
  const id = ID_COMMENT.exec(line)?.[1] ?? "";
  if (ID.test(id)) return { preface: joinLines(lines.toSpliced(at, 1)), coveredUuid: id };
  const rest = line === UNKNOWN_ID_COMMENT ? joinLines(lines.toSpliced(at, 1)) : preface;
  return { preface: rest, coveredUuid: "" };
}

export function formatNotes(notes: Notes): string {
  const { coveredUuid } = notes;
  if (coveredUuid === undefined) return notesAsShown(notes);
  const comment = ID.test(coveredUuid)
    ? `<!-- longhaul: noted up to message ${coveredUuid} -->`
    : UNKNOWN_ID_COMMENT;
  return `${comment}\n\n${notesAsShown(notes)}`;
}

/** The notes as a model sees them: without the id, which is none of its business. */
export function notesAsShown({ preface, sections }: Omit<Notes, "coveredUuid">): string {
  const parts = sections.map(({ heading, guide, body }) => joinParts([`${heading}\n${guide}`, body]));
  return `${joinParts([preface, ...parts])}\n`;
}

/** One below the other with a blank line between, without those that are empty. */
export const joinParts = (parts: readonly string[]): string =>
  parts.filter((part) => part !== "").join("\n\n");

/** Sections that stay as they were stay the same objects, and so do the notes. */
export function withBodies(notes: Notes, bodyAt: (index: number) => string | undefined): Notes {
  let hasChanged = false;
  const sections = notes.sections.map((section, index) => {
    const body = bodyAt(index) ?? section.body;
    if (body === section.body) return section;
    hasChanged = true;
    return { ...section, body };
  });
  return hasChanged ? { ...notes, sections } : notes;
}

/**
 * True if nothing has been noted. Text above the first heading is no note of this session, and neither is a
 * lone italic line: it comes from a template that had other words.
 */
export function isOnlyTemplate({ sections }: Notes): boolean {
  return sections.every(({ body }) => body === "" || isItalicLine(body));
}

const HEADING = /^#[ \t]+\S/;
const ITALIC = /^(?:_(?![_\s]).*[^_\s]_|\*(?![*\s]).*[^*\s]\*)$/;

export const isHeadingLine = (line: string): boolean => HEADING.test(line);

/** A line that is in italics from its beginning to its end. */
export const isItalicLine = (line: string): boolean => ITALIC.test(line.trim());

/** A text line by line, however its lines end. Byte order marks, which nobody sees, would hide a heading. */
export function linesOf(text: string): readonly string[] {
  return withoutReturns(text)
    .split("\n")
    .map((line) => line.replace(/^\uFEFF+/, ""));
}

export const withoutReturns = (text: string): string => text.replace(/\r\n?/g, "\n");

/** The lines as one text, without blank ones around it. Indentation stays: it can be code. */
export function joinLines(lines: readonly string[]): string {
  const first = lines.findIndex(isWritten);
  return first === -1 ? "" : lines.slice(first, lines.findLastIndex(isWritten) + 1).join("\n");
}

const isWritten = (line: string): boolean => line.trim() !== "";

/** The words of a heading, without its marks. */
export function sectionName(heading: string): string {
  return heading
    .replace(/^#+/, "")
    .replace(/\s#+\s*$/, "")
    .trim();
}

/** Equal for names that a reader takes for the same: case, marks and spaces do not count, `&` is "and". */
export function nameKey(name: string): string {
  const plain = name.normalize("NFKC").toLowerCase();
  const words = plain.replace(/&/g, " and ").replace(/[\p{P}\s`~]+/gu, " ");
  // A name of marks alone is still a name.
  return words.trim() || sectionName(plain);
}

/**
 * For the usual windows; smaller ones have them in proportion. A section that is longer is a log and no note; and all
 * of them are in the context after every compaction, so that more would bring the next one closer.
 */
export const NOTES_LIMITS: NotesLimits = Object.freeze({ sectionTokens: 2_000, totalTokens: 12_000 });

/** Tokens of the bodies. Headings, italic lines and text above them do not count: nobody can condense them. */
export interface NotesSize {
  readonly tokens: number;
  readonly sections: readonly { readonly heading: string; readonly tokens: number }[];
}

export function measureNotes(notes: Notes, countTokens: CountText): NotesSize {
  const sections = notes.sections.map(({ heading, body }) => ({
    heading,
    tokens: body === "" ? 0 : countTokens(body),
  }));
  return { tokens: sections.reduce((sum, { tokens }) => sum + tokens, 0), sections };
}

/** The parts that the next request must ask to condense. */
export function overLimits(
  measured: NotesSize,
  limits: NotesLimits,
): Pick<NotesSize, "sections"> & { readonly isTotalOver: boolean } {
  return {
    sections: measured.sections.filter(({ tokens }) => tokens > limits.sectionTokens),
    isTotalOver: measured.tokens > limits.totalTokens,
  };
}

/** The position after the newest noted message; undefined if that is no longer here. */
export function notedUpTo(entries: readonly Entry[], coveredUuid: string): number | undefined {
  // The first counts if it was repeated: nobody knows whether the messages between were noted.
  const noted = indexOfMessage(entries, coveredUuid);
  if (noted !== -1) return noted + 1;
  // Collapsed or snipped with others: what stands for them may hold something that was not noted.
  const standIn = entries.findIndex((entry) => standsFor(entry, coveredUuid));
  return standIn === -1 ? undefined : standIn;
}
