import { indexOfMessage, replacesMessage } from "@longhaul/core/internal/messages";
import type { CountText } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { FORMER_GUIDES } from "./former-guides.ts";

/** The two fixed lines of a section, from the template. The model changes neither. */
export interface NotesHeading {
  /** The whole line, such as `# Current State`. */
  readonly heading: string;
  /** The whole italic line below the heading. */
  readonly guide: string;
}

/** Sections of the notes, in order. At least one. */
export interface NotesTemplate {
  readonly sections: readonly NotesHeading[];
}

export interface NotesSection extends NotesHeading {
  /** Text without surrounding blank lines. Empty if nothing has been noted. */
  readonly body: string;
}

/** Notes of a session. */
export interface Notes {
  /** A person's text above the first heading. It is kept unchanged. */
  readonly preface: string;
  readonly sections: readonly NotesSection[];
  /**
   * Uuid of the newest message that the notes cover. It is stored in the notes file itself, so that a crash
   * cannot leave an id that does not match the notes. With a wrong id, a compaction could drop messages that
   * are not in the notes. If the file has no id, the value is undefined. If the id in the file is unreadable,
   * the value is empty. An empty id matches no message, so nothing counts as noted.
   */
  readonly coveredUuid: string | undefined;
}

export interface NotesFile {
  readonly path: string;
  /** Returns undefined if the file does not exist. */
  read(): Promise<string | undefined>;
  /**
   * Atomically replaces the text that was read. If the file has changed since then, returns false and writes
   * nothing. For example, a person may have edited the file.
   */
  write(text: string, replacing: string | undefined): Promise<boolean>;
}

/** Limits in tokens. Notes need limits, because a context that is built from notes contains all of them. */
export interface NotesLimits {
  readonly sectionTokens: number;
  readonly totalTokens: number;
}

/** A message id that is valid in a comment. The id is checked, because others may edit the file. */
const ID = /^[\w.:+/=@-]{1,128}$/;
const ID_COMMENT = /^<!--\s*longhaul: noted up to message (\S+)\s+-->$/;
/** Matches the start of the comment with the message id, even if somebody changed the rest of the comment. */
const ID_COMMENT_START = /^\s*<!--\s*longhaul:/i;
const UNKNOWN_ID_COMMENT = "<!-- longhaul: noted up to an unknown message -->";

export function emptyNotes(template: NotesTemplate): Notes {
  const sections = template.sections.map((section) => ({ ...section, body: "" }));
  return { preface: "", sections, coveredUuid: undefined };
}

/**
 * Parses a notes file that a person or another program may have edited. Returns each section of the template
 * once, in order. Keeps every line of the file. A line belongs to a section, or to the text above the first
 * section.
 */
export function parseNotes(text: string, template: NotesTemplate): Notes {
  const notes = parseShownNotes(text, template);
  return { ...notes, ...readId(notes.preface) };
}

/**
 * Parses the output of {@link notesAsShown} after a model may have edited it. This text has no message id.
 * Merges sections with the same heading, and drops the template's italic lines wherever they are.
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
  const guides = new Set([...template.sections.map(({ guide }) => guide), ...FORMER_GUIDES]);
  const sections = template.sections.map((section) => {
    const bodies = (parts.get(section.heading) ?? []).map((lines) =>
      joinLines(lines.filter((line) => !guides.has(line.trimEnd()))),
    );
    return { ...section, body: joinParts(bodies) };
  });
  return { preface: joinLines(preface), sections };
}

/**
 * Reads the message id from the first longhaul comment above the first heading. The comment may follow a
 * person's text.
 */
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

/** Renders the notes for a model, without the message id, which the model does not need. */
export function notesAsShown({ preface, sections }: Omit<Notes, "coveredUuid">): string {
  const parts = sections.map(({ heading, guide, body }) => joinParts([`${heading}\n${guide}`, body]));
  return `${joinParts([preface, ...parts])}\n`;
}

/** Joins the non-empty parts with blank lines. */
export const joinParts = (parts: readonly string[]): string =>
  parts.filter((part) => part !== "").join("\n\n");

/**
 * Replaces the texts of sections. Sections that do not change stay the same objects. If no section changes,
 * returns the same notes.
 */
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
 * True if nothing has been noted. Text above the first heading does not count. If a section contains only an
 * italic line, it does not count either, because the line comes from another template.
 */
export function isOnlyTemplate({ sections }: Notes): boolean {
  return sections.every(({ body }) => body === "" || isItalicLine(body));
}

const HEADING = /^#[ \t]+\S/;
const ITALIC = /^(?:_(?![_\s]).*[^_\s]_|\*(?![*\s]).*[^*\s]\*)$/;

export const isHeadingLine = (line: string): boolean => HEADING.test(line);

/** True if the whole line is in italics. */
export const isItalicLine = (line: string): boolean => ITALIC.test(line.trim());

/**
 * Splits a text at any type of line end. Removes byte order marks, which are invisible and would hide a
 * heading.
 */
export function linesOf(text: string): readonly string[] {
  return withoutReturns(text)
    .split("\n")
    .map((line) => line.replace(/^\uFEFF+/, ""));
}

export const withoutReturns = (text: string): string => text.replace(/\r\n?/g, "\n");

/** Joins lines and removes surrounding blank lines. Keeps the indentation, which can be code. */
export function joinLines(lines: readonly string[]): string {
  const first = lines.findIndex(isWritten);
  return first === -1 ? "" : lines.slice(first, lines.findLastIndex(isWritten) + 1).join("\n");
}

const isWritten = (line: string): boolean => line.trim() !== "";

/** Returns the words of a heading without its marks. */
export function sectionName(heading: string): string {
  return heading
    .replace(/^#+/, "")
    .replace(/\s#+\s*$/, "")
    .trim();
}

/** Normalizes a name: ignores case, marks and spaces, and treats `&` as "and". */
export function nameKey(name: string): string {
  const plain = name.normalize("NFKC").toLowerCase();
  const words = plain.replace(/&/g, " and ").replace(/[\p{P}\s`~]+/gu, " ");
  // A name that consists only of punctuation becomes its own key.
  return words.trim() || sectionName(plain);
}

/**
 * Default limits for common windows. In smaller windows, these limits are reduced proportionally. A section
 * above its limit would be a log rather than a note. Longer notes would make the next compaction start
 * sooner, because all notes are in the context after every compaction.
 */
export const NOTES_LIMITS: NotesLimits = Object.freeze({ sectionTokens: 2_000, totalTokens: 12_000 });

/**
 * Tokens of the texts of all sections. Headings, italic lines and the text above the first heading do not
 * count, because the model cannot condense them.
 */
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

/**
 * Returns the sections over their limit, and whether the total is over its limit. The next request asks the
 * model to condense those sections.
 */
export function overLimits(
  measured: NotesSize,
  limits: NotesLimits,
): Pick<NotesSize, "sections"> & { readonly isTotalOver: boolean } {
  return {
    sections: measured.sections.filter(({ tokens }) => tokens > limits.sectionTokens),
    isTotalOver: measured.tokens > limits.totalTokens,
  };
}

/** Returns the position after the newest noted message, or undefined if that message is missing. */
export function notedUpTo(entries: readonly Entry[], coveredUuid: string): number | undefined {
  // If the message occurs twice, its first copy counts, because the messages between the copies may not be in
  // the notes.
  const noted = indexOfMessage(entries, coveredUuid);
  if (noted !== -1) return noted + 1;
  // The message may have been collapsed or snipped together with others. In that case, returns the position
  // before their replacement, because the replacement may contain something that is not in the notes.
  const standIn = entries.findIndex((entry) => replacesMessage(entry, coveredUuid));
  return standIn === -1 ? undefined : standIn;
}
