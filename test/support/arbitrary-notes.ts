import fc from "fast-check";
import type { NotesEdit } from "../../packages/notes/src/note-edits.ts";
import type { Notes, NotesTemplate } from "../../packages/notes/src/notes-format.ts";
import { notesAsShown } from "../../packages/notes/src/notes-format.ts";
import { NOTES_TEMPLATE, parseTemplate } from "../../packages/notes/src/template.ts";

export const OUR_TEMPLATE: NotesTemplate = parseTemplate(NOTES_TEMPLATE);
const OWN_TEMPLATE = parseTemplate("# Plan\n_What next_\n\n# 危険 🚀\n*What hurts*\n\n# Done\n_What next_\n");

export const NOTES_PATH = "/sessions/one.notes.md";

export const arbitraryTemplate = (): fc.Arbitrary<NotesTemplate> =>
  fc.constantFrom(OUR_TEMPLATE, OWN_TEMPLATE);

const templateLines = ({ sections }: NotesTemplate): readonly string[] =>
  sections.flatMap(({ heading, guide }) => [heading, guide]);

/** Generates lines of all types except template lines and lines that look like an id. */
export const arbitraryWords = (): fc.Arbitrary<string> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom("- a step", "Some prose.", "src/main.ts", "", "   ", "    indented"),
    },
    fc.constantFrom("```", "```ts", "~~~~", "# a comment in code", "## Current State", "_in italics_", "-->"),
    fc.constantFrom("名前を変える。", "🙂👩‍👩‍👧", "$& $1 $$", "a\u2028b", "\u00a0", "e\u0301"),
    fc.string({ maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, "")),
    fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, "")),
  );

const arbitraryIdLine = (): fc.Arbitrary<string> =>
  fc.oneof(
    fc.uuid().map((id) => `<!-- longhaul: noted up to message ${id} -->`),
    fc.constantFrom(
      "<!-- longhaul: noted up to an unknown message -->",
      "<!-- longhaul: noted up to message a b -->",
      "<!-- longhaul: noted up to message x --> and more",
      "<!-- longhaul: noted up to mess",
      "<!--longhaul:-->",
    ),
  );

/** Generates the content of a notes file: written by longhaul, written by a person, or damaged. */
export function arbitraryFile(template: NotesTemplate): fc.Arbitrary<string> {
  const own = fc.constantFrom(...templateLines(template));
  const line = fc.oneof(
    { weight: 4, arbitrary: own },
    fc.tuple(own, fc.constantFrom("  ", "\t", "!", "\u00a0")).map((parts) => parts.join("")),
    fc.tuple(fc.constantFrom(" ", "#", "\uFEFF"), own).map((parts) => parts.join("")),
    { weight: 6, arbitrary: arbitraryWords() },
    arbitraryIdLine(),
    fc.string({ unit: "binary", maxLength: 6 }),
  );
  const end = fc.constantFrom("\n", "\n", "\n\n", "\r\n", "\r", "\n\uFEFF");
  return fc.array(fc.tuple(line, end), { maxLength: 25 }).map((lines) => lines.flat().join(""));
}

/** An edit that a model may request. Its target depends on the notes. */
export type WishedEdit = (notes: Notes) => NotesEdit;

export const arbitraryEdit = (template: NotesTemplate): fc.Arbitrary<WishedEdit> =>
  fc.oneof(arbitraryTextEdit(template), arbitrarySectionEdit(template));

function arbitraryTextEdit(template: NotesTemplate): fc.Arbitrary<WishedEdit> {
  const path = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(NOTES_PATH, `/.${NOTES_PATH}`, "//sessions/./one.notes.md") },
    fc.constantFrom("one.notes.md", "/etc/passwd", "~/one.notes.md", `${NOTES_PATH}.bak`, ""),
  );
  const parts = { path, newText: arbitraryText(template), replaceAll: fc.boolean() };
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const anywhere = fc
    .record({ ...parts, from: share, length: fc.nat(120), guess: fc.option(arbitraryText(template)) })
    .map(({ from, length, guess, ...edit }) => (notes: Notes): NotesEdit => {
      const shown = notesAsShown(notes);
      const start = Math.floor(from * shown.length);
      return { kind: "text", ...edit, oldText: guess ?? shown.slice(start, start + length) };
    });
  const inside = fc
    .record({ ...parts, section: fc.nat(), from: share, to: share })
    .map(({ section, from, to, ...edit }) => (notes: Notes): NotesEdit => {
      const { body, guide } = notes.sections[section % notes.sections.length] ?? { body: "", guide: "" };
      const [start, end] = [Math.min(from, to), Math.max(from, to)].map((at) => Math.round(at * body.length));
      const oldText = body.slice(start, end);
      if (oldText !== "") return { kind: "text", ...edit, oldText };
      return { kind: "text", ...edit, oldText: guide, newText: `${guide}\n${edit.newText}` };
    });
  return fc.oneof(anywhere, inside);
}

function arbitrarySectionEdit(template: NotesTemplate): fc.Arbitrary<WishedEdit> {
  const headings = template.sections.map(({ heading }) => heading);
  const section = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.constantFrom(...headings, ...headings.map((name) => name.slice(2).toUpperCase())),
    },
    fc.string({ maxLength: 8 }),
  );
  return fc
    .record({ section, mode: fc.constantFrom("replace", "append"), text: arbitraryText(template) })
    .map((edit) => () => ({ kind: "section", ...edit }));
}

/**
 * Generates text that a model writes. The text is mostly valid. Sometimes it has lines that the model must
 * not change, or worse faults.
 */
function arbitraryText(template: NotesTemplate): fc.Arbitrary<string> {
  const line = fc.oneof(
    { weight: 12, arbitrary: arbitraryWords() },
    fc.constantFrom(...templateLines(template)),
    arbitraryIdLine(),
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.constantFrom("\u0000", "\u001b[31mred", "\ud83d", "\uFEFF"),
  );
  return fc
    .tuple(fc.array(line, { maxLength: 5 }), fc.constantFrom("\n", "\n", "\r\n"))
    .map(([lines, end]) => lines.join(end));
}
