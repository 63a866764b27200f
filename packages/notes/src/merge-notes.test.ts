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

describe("mergeNotes when a person edited the notes file during an update", () => {
  it("keeps both changes and the new message id when a person and an update changed different sections", () => {
    const merged = mergeNotes(
      notes(["a", "b", "c"], "old"),
      notes(["a", "b2", "c"], "new"),
      notes(["a1", "b", "c"], "old"),
    );
    expect(bodiesOf(merged)).toEqual(["a1", "b2", "c"]);
    expect(merged.coveredUuid).toBe("new");
  });

  it("keeps the person's text and the old message id when a person and an update changed the same section", () => {
    const merged = mergeNotes(
      notes(["a", "b", "c"], "old"),
      notes(["ours", "b2", "c"], "new"),
      notes(["theirs", "b", "c"], "old"),
    );
    expect(bodiesOf(merged)).toEqual(["theirs", "b2", "c"]);
    expect(merged.coveredUuid).toBe("old");
  });

  it("if the notes file was deleted during an update, stores an empty message id, and if replaced, the new file's id", () => {
    const [base, ours] = [notes(["a"], "old"), notes(["a", "b"], "new")];
    const deleted = mergeNotes(base, ours, notes([]));
    expect(bodiesOf(deleted)).toEqual(["", "b", ""]);
    // The id must not be undefined, because notes without an id count as covering all messages.
    expect(deleted.coveredUuid).toBe("");
    expect(mergeNotes(base, ours, notes(["a1"], "older")).coveredUuid).toBe("older");
  });

  it("stores an empty message id, which marks nothing as noted, when the person removed the message id", () => {
    const merged = mergeNotes(notes(["a"], "old"), notes(["ours"], "new"), notes(["theirs"]));
    expect(merged.coveredUuid).toBe("");
  });

  it("mergeNotes takes each section from the person if the person changed it, else from the update", () => {
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
