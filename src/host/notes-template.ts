import type { NotesHeading, NotesTemplate } from "../notes/notes-format.ts";
import { isHeadingLine, isItalicLine, linesOf } from "../notes/notes-format.ts";
import { NOTES_TEMPLATE, parseTemplate } from "../notes/template.ts";

/**
 * The template that notes were made from, by the file itself: nobody should have to name it again each time. Ours
 * where the file has no other sections than those.
 */
export function templateIn(text: string): NotesTemplate {
  const ours = parseTemplate(NOTES_TEMPLATE);
  const sections = sectionsIn(text);
  return sections.every((section) => has(ours, section)) ? ours : { sections };
}

/** Whether notes with these sections could go on with that template. */
export function isSameTemplate(one: NotesTemplate, other: NotesTemplate): boolean {
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
