import { joinLines, linesOf } from "./note-lines.ts";
import type { Notes, NotesTemplate } from "./notes.ts";
import { isItalicLine } from "./template.ts";

/** What can stand in a comment and be found in a transcript; the file is not only ours to write. */
const ID = /^[\w.:+/=@-]{1,128}$/;
const ID_COMMENT = /^<!--\s*longhaul: noted up to message (\S+)\s+-->$/;
/** Whatever has become of it, it once was ours. */
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

/**
 * Whether nothing has been noted. What stands above the first heading is no note of this session, and neither is a
 * lone italic line: it comes from a template that had other words.
 */
export function isOnlyTemplate({ sections }: Notes): boolean {
  return sections.every(({ body }) => body === "" || isItalicLine(body));
}
