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

/** A requested change to the notes. */
export type NotesEdit = TextEdit | SectionEdit;

/** Edit that replaces one text with another. Agents edit files in the same way. */
export interface TextEdit {
  readonly kind: "text";
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll?: boolean;
}

/** Edit of a whole section, for models without a tool that edits files. */
export interface SectionEdit {
  readonly kind: "section";
  /** Name of the section, with or without the heading's marks. */
  readonly section: string;
  readonly mode: "replace" | "append";
  readonly text: string;
}

/** Reason for refusing an edit. One or two sentences tell the author of the edit what to do. */
export interface Refusal {
  readonly refused: string;
}

/**
 * Maximum characters of the notes. It is about twenty times the length of useful notes. In any script, this
 * many characters take fewer bytes than the maximum size of a notes file.
 */
const MAX_CHARACTERS = 300_000;
/** Maximum characters of a line that a refusal quotes. They are enough to identify the line. */
const QUOTED_CHARACTERS = 100;
const LIST_ITEM = /^\s*(?:[-*+•]|\d{1,4}[.)])\s/;

export interface NotesTarget {
  /** Path of the notes file, the only file that an edit may change. */
  readonly path: string;
  readonly template: NotesTemplate;
}

/** Result of an edit: the changed notes, or a refusal. After a refusal, the notes stay as they were. */
export type NotesEditResult = { readonly notes: Notes } | Refusal;

export interface NotesEditOutcome {
  readonly edit: NotesEdit;
  /** Reason for refusing the edit. Undefined if the edit was applied. */
  readonly refused: string | undefined;
}

/**
 * Applies the edits in order, each to the result of the previous ones. A refused edit does not stop the rest.
 */
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

/**
 * Applies an edit to the notes, or returns the reason for refusing it. No edit may change a heading or an
 * italic line.
 */
export function applyNotesEdit(notes: Notes, edit: NotesEdit, target: NotesTarget): NotesEditResult {
  return edit.kind === "text" ? editText(notes, edit, target) : editSection(notes, edit, target);
}

const refuse = (reason: string): Refusal => ({ refused: reason });

function editText(notes: Notes, edit: TextEdit, { path, template }: NotesTarget): NotesEditResult {
  if (plainPath(edit.path) !== plainPath(path)) {
    return refuse(`You can only edit the notes here. Pass exactly this path: ${path}`);
  }
  const shown = notesAsShown(notes);
  const replaced = replaceText(shown, edit);
  if ("refused" in replaced) return replaced;
  const damage = damageOf(templateLinesIn(shown, template), templateLinesIn(replaced.text, template));
  if (damage !== undefined) return refuse(damage);
  const after = parseShownNotes(replaced.text, template);
  if (after.preface !== notes.preface) {
    return refuse(
      "The text above the first heading belongs to the user. Do not change it. Put your text into a section, below its italic line.",
    );
  }
  return { notes: withBodies(notes, (at) => after.sections[at]?.body) };
}

function replaceText(shown: string, edit: TextEdit): { readonly text: string } | Refusal {
  const oldText = withoutReturns(edit.oldText);
  const newText = clean(edit.newText);
  if (oldText === "") {
    return refuse(
      "The old text is empty. To fill an empty section, pass its italic line as the old text, and the same line with your text below it as the new text.",
    );
  }
  if (oldText === newText) return refuse("The old text and the new text are the same. Leave this edit out.");
  const first = shown.indexOf(oldText);
  if (first === -1) {
    return refuse(
      "The old text is not in the notes. Copy it exactly from the notes, with spaces and line breaks. Earlier edits have changed the notes.",
    );
  }
  if (edit.replaceAll !== true && shown.indexOf(oldText, first + 1) !== -1) {
    return refuse(
      "The old text is in the notes more than once. Add a line before or after it, so that it occurs only once.",
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
    return refuse(`There is no section ${named(edit.section)}. Use one of these: ${names}.`);
  }
  const text = joinLines(linesOf(clean(edit.text)));
  const [templateLine] = templateLinesIn(text, template);
  if (templateLine !== undefined) {
    return refuse(
      `The text contains ${named(templateLine)}, a fixed line of the notes. Write only the text below the italic line, and a separate note for each section.`,
    );
  }
  if (edit.mode === "append" && text === "")
    return refuse("There is no text to append. Leave this note out.");
  const body = edit.mode === "append" ? append(section.body, text) : text;
  const length = notesAsShown(notes).length;
  if (isTooLong(length + body.length - section.body.length, length)) return tooLong();
  return { notes: withBodies(notes, (at) => (at === index ? body : undefined)) };
}

/**
 * Appends text to a section. A list item is added as the next line. Any other text becomes a separate
 * paragraph.
 */
const append = (body: string, text: string): string =>
  body !== "" && LIST_ITEM.test(text) ? `${body}\n${text}` : joinParts([body, text]);

/**
 * True if an edit would make the notes too long. An edit may still shorten notes that are already too long.
 */
const isTooLong = (after: number, before: number): boolean => after > MAX_CHARACTERS && after > before;

const tooLong = (): Refusal =>
  refuse(
    `The notes would be longer than ${MAX_CHARACTERS} characters. Note only what matters, in far fewer words.`,
  );

/** Returns the lines of the text that are headings or italic lines of the template, in order. */
function templateLinesIn(text: string, { sections }: NotesTemplate): readonly string[] {
  const known = new Set(sections.flatMap(({ heading, guide }) => [heading, guide]));
  return linesOf(text)
    .map((line) => line.trimEnd())
    .filter((line) => known.has(line));
}

/** Describes for the author of an edit which template line the edit would damage or repeat. */
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
  return `The edit would ${what}. Every heading and italic line must stay unchanged and occur once. Change only the text below them.`;
}

function countsOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** Removes control characters and unpaired surrogates, which would make the file unreadable as text. */
const clean = (text: string): string => withoutControls(text).toWellFormed();

const named = (text: string): string => quoted(clip(oneLine(text), QUOTED_CHARACTERS));

const plainPath = (path: string): string => path.replace(/\/(?:\.?\/)+/g, "/").replace(/^(?:\.\/)+/, "");
