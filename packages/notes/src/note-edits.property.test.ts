import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  arbitraryEdit,
  arbitraryFile,
  arbitraryTemplate,
  NOTES_PATH,
  type WishedEdit,
} from "../../../test/support/arbitrary-notes.ts";
import { deepFreeze } from "../../../test/support/deep-freeze.ts";
import { withoutControls } from "../../core/src/messages/text.ts";
import { applyNotesEdit, applyNotesEdits, type NotesEdit } from "./note-edits.ts";
import { formatNotes, type Notes, type NotesTemplate, notesAsShown, parseNotes } from "./notes-format.ts";

interface Session {
  readonly template: NotesTemplate;
  readonly notes: Notes;
  readonly wishes: readonly WishedEdit[];
}

const sessions = (): fc.Arbitrary<Session> =>
  arbitraryTemplate().chain((template) =>
    fc.record({
      template: fc.constant(template),
      notes: arbitraryFile(template).map((text) => deepFreeze(parseNotes(text, template))),
      wishes: fc.array(arbitraryEdit(template), { minLength: 1, maxLength: 6 }),
    }),
  );

const linesOf = (text: string): readonly string[] => text.split(/\r\n?|\n/).map((line) => line.trimEnd());

function templateLines(notes: Notes, { sections }: NotesTemplate): readonly string[] {
  const known = new Set(sections.flatMap(({ heading, guide }) => [heading, guide]));
  return linesOf(formatNotes(notes)).filter((line) => known.has(line));
}

const written = (text: string): readonly string[] =>
  linesOf(text)
    .map((line) => line.replace(/^\uFEFF+/, "").trim())
    .filter((line) => line !== "")
    .sort();

/** Returns the notes after the edit, computed with plain text replacement. */
function expected(notes: Notes, edit: NotesEdit): string {
  const shown = notesAsShown(notes);
  if (edit.kind === "section") return shown;
  const newText = withoutControls(edit.newText).toWellFormed();
  const oldText = edit.oldText.replace(/\r\n?/g, "\n");
  return edit.replaceAll ? shown.replaceAll(oldText, () => newText) : shown.replace(oldText, () => newText);
}

function expectOnlyChange(before: Notes, edit: NotesEdit, after: Notes): void {
  if (edit.kind === "text") {
    expect(written(notesAsShown(after))).toEqual(written(expected(before, edit)));
    return;
  }
  const changed = after.sections.filter((section, at) => section !== before.sections[at]);
  expect(changed.length).toBeLessThanOrEqual(1);
  for (const { body } of changed) expect(written(body)).toEqual(expect.arrayContaining(ownLines(edit.text)));
}

const ownLines = (text: string): string[] => [...written(withoutControls(text).toWellFormed())];

describe("applyNotesEdit, for any edits", () => {
  it("applyNotesEdit changes only what the edit says and keeps template lines, or refuses with a reason", () => {
    fc.assert(
      fc.property(sessions(), ({ template, notes, wishes }) => {
        let current = notes;
        for (const wish of wishes) {
          const edit = wish(current);
          const result = applyNotesEdit(current, edit, { path: NOTES_PATH, template });
          if ("refused" in result) {
            expect(result.refused).toMatch(/^[A-Z].+[.d]$/s);
            continue;
          }
          const after = deepFreeze(result.notes);
          expect(templateLines(after, template)).toEqual(templateLines(current, template));
          expect(after.sections.map(({ heading, guide }) => ({ heading, guide }))).toEqual(template.sections);
          expect([after.preface, after.coveredUuid]).toEqual([current.preface, current.coveredUuid]);
          expect(parseNotes(formatNotes(after), template)).toEqual(after);
          expectOnlyChange(current, edit, after);
          current = after;
        }
      }),
      { numRuns: 300 },
    );
  });

  it("applyNotesEdits returns the same notes as calls of applyNotesEdit with each edit in order", () => {
    fc.assert(
      fc.property(sessions(), ({ template, notes, wishes }) => {
        const target = { path: NOTES_PATH, template };
        const edits = wishes.map((wish) => wish(notes));
        let current = notes;
        const reasons = edits.map((edit) => {
          const result = applyNotesEdit(current, edit, target);
          if ("refused" in result) return result.refused;
          current = result.notes;
          return undefined;
        });
        const together = applyNotesEdits(notes, edits, target);
        expect(together.notes).toEqual(current);
        expect(together.outcomes.map(({ refused }) => refused)).toEqual(reasons);
      }),
      { numRuns: 300 },
    );
  });

  it("the generated edits include enough edits that are applied and enough kinds of edits that are refused", () => {
    const outcomes = fc.sample(sessions(), { numRuns: 300, seed: 1 }).flatMap(({ template, notes, wishes }) =>
      applyNotesEdits(
        notes,
        wishes.map((wish) => wish(notes)),
        { path: NOTES_PATH, template },
      ).outcomes.map(({ edit, refused }) => `${edit.kind} ${refused?.slice(0, 20) ?? "applied"}`),
    );
    expect(new Set(outcomes).size).toBeGreaterThan(8);
    expect(outcomes.filter((outcome) => outcome === "text applied").length).toBeGreaterThan(50);
    expect(outcomes.filter((outcome) => outcome === "section applied").length).toBeGreaterThan(50);
  });
});
