import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Notes } from "./notes-format.ts";
import { mergeNotes } from "./update.ts";

const HEADINGS = ["# One", "# Two", "# Three"];

const notes = (bodies: readonly string[], coveredUuid?: string): Notes => ({
  preface: "",
  sections: HEADINGS.map((heading, at) => ({
    heading,
    guide: "_what belongs here_",
    body: bodies[at] ?? "",
  })),
  coveredUuid,
});

const bodiesOf = ({ sections }: Notes): readonly string[] => sections.map(({ body }) => body);

describe("notes that a person edited while they were being taken", () => {
  it("have both changes where they concern different sections, and cover what ours cover", () => {
    const merged = mergeNotes(
      notes(["a", "b", "c"], "old"),
      notes(["a", "b2", "c"], "new"),
      notes(["a1", "b", "c"], "old"),
    );
    expect(bodiesOf(merged)).toEqual(["a1", "b2", "c"]);
    expect(merged.coveredUuid).toBe("new");
  });

  it("keep the person's words where both changed one section, and do not claim to cover what was left out", () => {
    const merged = mergeNotes(
      notes(["a", "b", "c"], "old"),
      notes(["ours", "b2", "c"], "new"),
      notes(["theirs", "b", "c"], "old"),
    );
    expect(bodiesOf(merged)).toEqual(["theirs", "b2", "c"]);
    expect(merged.coveredUuid).toBe("old");
  });

  it("do not cover what ours were based on where that is gone: the file was deleted, or begun anew", () => {
    const [base, ours] = [notes(["a"], "old"), notes(["a", "b"], "new")];
    const deleted = mergeNotes(base, ours, notes([]));
    expect(bodiesOf(deleted)).toEqual(["", "b", ""]);
    // Not undefined: notes without an id count as covering all messages.
    expect(deleted.coveredUuid).toBe("");
    expect(mergeNotes(base, ours, notes(["a1"], "older")).coveredUuid).toBe("older");
  });

  it("name a message even where the person took its name out", () => {
    const merged = mergeNotes(notes(["a"], "old"), notes(["ours"], "new"), notes(["theirs"]));
    expect(merged.coveredUuid).toBe("");
  });

  it("whatever the changes: each section has one of the two, the person's whenever they changed it", () => {
    const body = fc.constantFrom("", "x", "y", "z");
    const bodies = fc.tuple(body, body, body);
    fc.assert(
      fc.property(bodies, bodies, bodies, (base, ours, theirs) => {
        const merged = mergeNotes(notes(base, "old"), notes(ours, "new"), notes(theirs, "old"));
        for (const [at, text] of bodiesOf(merged).entries()) {
          expect(text).toBe(theirs[at] === base[at] ? ours[at] : theirs[at]);
        }
        const isAllOurs = bodiesOf(merged).every((text, at) => ours[at] === base[at] || text === ours[at]);
        expect(merged.coveredUuid).toBe(isAllOurs ? "new" : "old");
      }),
    );
  });
});
