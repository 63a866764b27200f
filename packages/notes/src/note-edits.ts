import { withoutControls } from "@longhaul/core/internal/messages";
import { clip, oneLine, quoted } from "@longhaul/core/internal/summary";
import {
  joinLines,
  joinParts,
  linesOf,
  type Notes,
  type NotesTemplate,
  nameKey,
  notesAsShown,
  parseShownNotes,
  sectionName,
  withBodies,
  withoutReturns,
} from "./notes-format.ts";

/** A change to the notes that somebody wishes for. */
export type NotesEdit = TextEdit | SectionEdit;

/** As agents edit files. */
export interface TextEdit {
  readonly kind: "text";
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll?: boolean;
}

/** For models that have no tool for files. */
export interface SectionEdit {
  readonly kind: "section";
  /** The section's name, with or without the heading's marks. */
  readonly section: string;
  readonly mode: "replace" | "append";
  readonly text: string;
}

/** Why an edit is not carried out: one or two sentences for whoever wished for it, who can act on them. */
export interface Refusal {
  readonly refused: string;
}

/** Less than a file of notes may have in bytes, whatever the script; some twenty times of what is worth keeping. */
const MOST_CHARACTERS = 300_000;
/** Enough to find a line by, in a sentence. */
const QUOTED_CHARACTERS = 100;
const LIST_ITEM = /^\s*(?:[-*+•]|\d{1,4}[.)])\s/;

export interface NotesTarget {
  /** The one file that may be edited. */
  readonly path: string;
  readonly template: NotesTemplate;
}

/** A refusal changes nothing. */
export type NotesEditResult = { readonly notes: Notes } | Refusal;

export interface NotesEditOutcome {
  readonly edit: NotesEdit;
  /** Undefined where it was applied. */
  readonly refused: string | undefined;
}

/** One after the other, each on what the ones before it left. What is refused does not keep the rest back. */
export function applyNotesEdits(
  notes: Notes,
  edits: readonly NotesEdit[],
  target: NotesTarget,
): { readonly notes: Notes; readonly outcomes: readonly NotesEditOutcome[] } {
  let current = notes;
  const outcomes = edits.map((edit) => {
    const result = applyNotesEdit(current, edit, target);
    if ("refused" in result) return { edit, refused: result.refused };
    current = result.notes;
    return { edit, refused: undefined };
  });
  return { notes: current, outcomes };
}

/** The notes with the edit applied, or why it is not: headings and italic lines stay, whoever edits. */
export function applyNotesEdit(notes: Notes, edit: NotesEdit, target: NotesTarget): NotesEditResult {
  return edit.kind === "text" ? editText(notes, edit, target) : editSection(notes, edit, target);
}

const refuse = (reason: string): Refusal => ({ refused: reason });

function editText(notes: Notes, edit: TextEdit, { path, template }: NotesTarget): NotesEditResult {
  if (plainPath(edit.path) !== plainPath(path)) {
    return refuse(`Only the notes may be edited here. Name their file exactly so: ${path}`);
  }
  const shown = notesAsShown(notes);
  const replaced = replaceText(shown, edit);
  if ("refused" in replaced) return replaced;
  const damage = damageOf(templateLinesIn(shown, template), templateLinesIn(replaced.text, template));
  if (damage !== undefined) return refuse(damage);
  const after = parseShownNotes(replaced.text, template);
  if (after.preface !== notes.preface) {
    return refuse(
      "What stands above the first heading is the user's and stays as it is. Put the text into a section, below its italic line.",
    );
  }
  return { notes: withBodies(notes, (at) => after.sections[at]?.body) };
}

function replaceText(shown: string, edit: TextEdit): { readonly text: string } | Refusal {
  const oldText = withoutReturns(edit.oldText);
  const newText = clean(edit.newText);
  if (oldText === "") {
    return refuse(
      "The old text is empty. To fill an empty section give its italic line as the old text, and the same line with the new text below it as the new one.",
    );
  }
  if (oldText === newText) return refuse("Old and new text are the same. Leave this edit out.");
  const first = shown.indexOf(oldText);
  if (first === -1) {
    return refuse(
      "The old text is not in the notes. Copy it from the notes exactly as it stands there, with its spaces and line breaks; edits before this one have changed them.",
    );
  }
  if (edit.replaceAll !== true && shown.indexOf(oldText, first + 1) !== -1) {
    return refuse(
      "The old text is in the notes more than once. Take in a line before or after it, so that it is there only once.",
    );
  }
  const parts = edit.replaceAll === true ? shown.split(oldText) : cutAt(shown, first, oldText.length);
  const length = shown.length + (parts.length - 1) * (newText.length - oldText.length);
  return isTooLong(length, shown.length) ? tooLong() : { text: parts.join(newText) };
}

const cutAt = (text: string, start: number, length: number): readonly string[] => [
  text.slice(0, start),
  text.slice(start + length),
];

function editSection(notes: Notes, edit: SectionEdit, { template }: NotesTarget): NotesEditResult {
  const key = nameKey(edit.section);
  const index = notes.sections.findIndex(({ heading }) => nameKey(heading) === key);
  const section = notes.sections[index];
  if (section === undefined) {
    const names = notes.sections.map(({ heading }) => sectionName(heading)).join(", ");
    return refuse(`There is no section ${named(edit.section)}. Take one of these: ${names}.`);
  }
  const text = joinLines(linesOf(clean(edit.text)));
  const [templateLine] = templateLinesIn(text, template);
  if (templateLine !== undefined) {
    return refuse(
      `The text contains ${named(templateLine)}, a line of the notes' own. Give only what is to stand below the italic line, and a note of its own for each section.`,
    );
  }
  if (edit.mode === "append" && text === "")
    return refuse("There is no text to append. Leave this note out.");
  const body = edit.mode === "append" ? append(section.body, text) : text;
  const length = notesAsShown(notes).length;
  if (isTooLong(length + body.length - section.body.length, length)) return tooLong();
  return { notes: withBodies(notes, (at) => (at === index ? body : undefined)) };
}

/** List items stay one list; anything else is a paragraph of its own. */
const append = (body: string, text: string): string =>
  body !== "" && LIST_ITEM.test(text) ? `${body}\n${text}` : joinParts([body, text]);

/** Notes that are too long already may still be made shorter. */
const isTooLong = (after: number, before: number): boolean => after > MOST_CHARACTERS && after > before;

const tooLong = (): Refusal =>
  refuse(
    `The notes would be longer than ${MOST_CHARACTERS} characters. Note only what matters, in far fewer words.`,
  );

/** In the order in which they stand. */
function templateLinesIn(text: string, { sections }: NotesTemplate): readonly string[] {
  const known = new Set(sections.flatMap(({ heading, guide }) => [heading, guide]));
  return linesOf(text)
    .map((line) => line.trimEnd())
    .filter((line) => known.has(line));
}

/** The damage to the lines that must not change, in words for the author of the edit. */
function damageOf(before: readonly string[], after: readonly string[]): string | undefined {
  const isMoreOften = (lines: readonly string[], others: readonly string[]) => {
    const counts = countsOf(others);
    const own = countsOf(lines);
    return (line: string): boolean => (own.get(line) ?? 0) > (counts.get(line) ?? 0);
  };
  const lost =
    before.find(isMoreOften(before, after)) ??
    (before.length === after.length ? before.find((line, at) => line !== after[at]) : undefined);
  const added = lost === undefined ? after.find(isMoreOften(after, before)) : undefined;
  if (lost === undefined && added === undefined) return undefined;
  const what =
    added === undefined ? `damage the line ${named(lost ?? "")}` : `repeat the line ${named(added)}`;
  return `The edit would ${what}. Headings and italic lines stay as they are, each once: change only the text below them.`;
}

function countsOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** Control characters would make the file unreadable as text, and so would half a character. */
const clean = (text: string): string => withoutControls(text).toWellFormed();

const named = (text: string): string => quoted(clip(oneLine(text), QUOTED_CHARACTERS));

const plainPath = (path: string): string => path.replace(/\/(?:\.?\/)+/g, "/").replace(/^(?:\.\/)+/, "");
