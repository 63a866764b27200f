import type { NotesSection } from "../../../../modules/notes/notes-format.ts";
import { isItalicLine, nameKey } from "../../../../modules/notes/notes-format.ts";

/** The sections of notes as a model reads them: a heading, and a line in italics below it. */
export function sectionsShown(shown: string): readonly NotesSection[] {
  const lines = shown.split("\n");
  const starts = lines.flatMap((line, at) =>
    line.startsWith("# ") && isItalicLine(lines[at + 1] ?? "") ? [at] : [],
  );
  return starts.map((start, index) => ({
    heading: lines[start] ?? "",
    guide: lines[start + 1] ?? "",
    body: lines
      .slice(start + 2, starts[index + 1])
      .join("\n")
      .trim(),
  }));
}

export const isNamed = ({ heading }: Pick<NotesSection, "heading">, name: string): boolean =>
  nameKey(heading) === nameKey(name);
