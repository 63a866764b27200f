import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noteBlocksIn } from "./model-edits.ts";

const edits = (text: string): unknown[] => noteBlocksIn(text).map(({ edit }) => edit);
const note = (text: string, section = "Worklog", mode = "append"): string =>
  `<note section="${section}" mode="${mode}">${text}</note>`;

describe("noteBlocksIn, which reads the <note> blocks of a model's answer", () => {
  it("reads note blocks in order and ignores the text between them", () => {
    const answer = `Here:\n${note("\n- one\n- two\n")}\nand\n${note("  now", "Current State", "replace")}\nDone.`;
    expect(edits(answer)).toEqual([
      { kind: "section", section: "Worklog", mode: "append", text: "- one\n- two" },
      { kind: "section", section: "Current State", mode: "replace", text: "now" },
    ]);
    expect(edits("No block at all, only <note> and </note>.")).toEqual([]);
  });

  it("reads note block attributes as XML does, with single quotes, spaces around the equals sign and entities", () => {
    expect(edits("<note  mode = 'append' section='Errors &amp; Corrections' >x</note>")).toEqual([
      { kind: "section", section: "Errors & Corrections", mode: "append", text: "x" },
    ]);
  });

  it("noteBlocksIn scans a very long unclosed tag in linear time", () => {
    expect(edits(`<note ${"section=".repeat(200_000)}`)).toEqual([]);
  });

  it("reads an empty note block as an edit that empties the section", () => {
    expect(edits(note("", "Learnings", "replace"))).toMatchObject([{ text: "" }]);
  });

  it.each([
    ["names no section", '<note mode="append">x</note>', /does not name its section/],
    ["has no mode", '<note section="Worklog">x</note>', /"replace" nor "append"/],
    ["has an unknown mode", note("x", "Worklog", "prepend"), /"replace" nor "append"/],
    ["is not closed", '<note section="Worklog" mode="append">and so on', /no <\/note> at its end/],
    ["contains the closing tag in its text", note("the tag </note> ends it"), /contains <\/note>/],
  ])("refuses a note block that %s, and returns the reason", (_, answer, reason) => {
    expect(edits(answer)).toEqual([{ refused: expect.stringMatching(reason) }]);
  });

  it("accepts a good note block after a note block that was not closed", () => {
    const [open, good] = noteBlocksIn(`<note section="Workflow" mode="append">and so\n${note("fine")}`);
    expect(open).toEqual({ named: 'The note for "Workflow"', edit: { refused: expect.any(String) } });
    expect(good?.edit).toMatchObject({ section: "Worklog", text: "fine" });
  });

  it("keeps tags in the text of a note block unchanged", () => {
    expect(edits(note("<note>see</notes> <b>"))).toMatchObject([{ text: "<note>see</notes> <b>" }]);
  });

  it("returns the text of every note block without surrounding white space, for any text", () => {
    const texts = fc.string().filter((text) => !/<\/?note/i.test(text));
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 5 }), (bodies) => {
        const answer = bodies.map((body) => note(body)).join("\n");
        expect(edits(answer)).toEqual(
          bodies.map((body) => ({ kind: "section", section: "Worklog", mode: "append", text: body.trim() })),
        );
      }),
    );
  });

  it("turns every note block into an edit or a refusal with a reason, for any answer", () => {
    const pieces = fc.constantFrom(
      "<note",
      " section=",
      '"Worklog"',
      ' mode="append"',
      ">",
      "</note>",
      "text",
      "\n",
      "<",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
        for (const { named, edit } of noteBlocksIn(parts.join(""))) {
          expect(named).not.toBe("");
          if ("refused" in edit) expect(edit.refused).toMatch(/^Not applied: .*\.$/);
          else expect(edit.text).not.toContain("</note>");
        }
      }),
    );
  });
});
