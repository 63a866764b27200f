import { describe, expect, it } from "vitest";
import { OUR_TEMPLATE } from "../../../test/support/arbitrary-notes.ts";
import { deepFreeze } from "../../../test/support/deep-freeze.ts";
import { applyNotesEdit, applyNotesEdits, type NotesEdit } from "./note-edits.ts";
import { type Notes, notesAsShown, parseNotes } from "./notes-format.ts";
import { parseTemplate } from "./template.ts";

const template = parseTemplate("# Current State\n_now_\n# Errors & Corrections\n_bad_\n# Log\n_steps_\n");
const path = "/notes/one.md";
const target = { path, template };
const notes = deepFreeze(
  parseNotes(
    "<!-- longhaul: noted up to message u-1 -->\nmine\n# Current State\n_now_\n\nall red\n\n# Log\n_steps_\n\n- red\n- green\n",
    template,
  ),
);

type TextEdit = Extract<NotesEdit, { kind: "text" }>;
type SectionEdit = Extract<NotesEdit, { kind: "section" }>;

const text = (oldText: string, newText: string, more: Partial<TextEdit> = {}): NotesEdit => ({
  kind: "text",
  path,
  oldText,
  newText,
  ...more,
});
const section = (name: string, body: string, mode: SectionEdit["mode"] = "replace"): NotesEdit => ({
  kind: "section",
  section: name,
  mode,
  text: body,
});

function bodiesAfter(edit: NotesEdit, before: Notes = notes): readonly string[] | string {
  const result = applyNotesEdit(before, edit, target);
  if ("refused" in result) return result.refused;
  expect({ ...result.notes, sections: [] }).toEqual({ ...before, sections: [] });
  return result.notes.sections.map(({ body }) => body);
}

describe("a text edit of the notes", () => {
  it("a text edit applies to the notes in the form that the model sees, which has no message id", () => {
    expect(notesAsShown(notes)).not.toContain("u-1");
    expect(bodiesAfter(text("all red", "all green"))).toEqual(["all green", "", "- red\n- green"]);
    expect(bodiesAfter(text("- green\n", "- green\n- blue\n"))).toEqual([
      "all red",
      "",
      "- red\n- green\n- blue",
    ]);
    expect(bodiesAfter(text("all red\n", ""))).toEqual(["", "", "- red\n- green"]);
  });

  it("a text edit can fill an empty section after its italic line, and can edit several sections at once", () => {
    expect(bodiesAfter(text("_bad_", "_bad_\nA wrong path"))).toEqual([
      "all red",
      "A wrong path",
      "- red\n- green",
    ]);
    const all = notesAsShown(notes).slice("mine\n\n".length);
    expect(bodiesAfter(text(all, all.replace("all red", "x").replace("- red", "y")))).toEqual([
      "x",
      "",
      "y\n- green",
    ]);
  });

  it("a text edit may use any line ends, and its new text is inserted literally", () => {
    expect(bodiesAfter(text("- red\r\n- green", "- $&\r\n- $1"))).toEqual(["all red", "", "- $&\n- $1"]);
  });

  it("moves new text below the italic line when a text edit puts it above that line", () => {
    expect(bodiesAfter(text("_bad_", "A wrong path\n_bad_"))).toEqual([
      "all red",
      "A wrong path",
      "- red\n- green",
    ]);
  });

  it("the old text of an edit must occur only once in the notes unless the edit replaces all occurrences", () => {
    expect(bodiesAfter(text("red", "blue"))).toMatch(/more than once/);
    expect(bodiesAfter(text("red", "blue", { replaceAll: true }))).toEqual([
      "all blue",
      "",
      "- blue\n- green",
    ]);
    expect(bodiesAfter(text("aa", "b"), withState("aaa"))).toMatch(/more than once/);
  });

  it("removes control characters and unpaired surrogates from the new text of an edit", () => {
    expect(bodiesAfter(text("all red", "\u001b[31mred\u0000\ud83d!"))).toEqual([
      "red\ufffd!",
      "",
      "- red\n- green",
    ]);
  });

  it.each(["/notes/one.md", "/notes/./one.md", "//notes/.//one.md"])(
    "accepts the path of the notes file written as %s",
    (named) => {
      expect(bodiesAfter(text("all red", "x", { path: named }))).toEqual(["x", "", "- red\n- green"]);
    },
  );

  it("accepts a relative path of the notes file with or without ./", () => {
    const local = { template, path: "./one.md" };
    for (const named of ["one.md", "./one.md", "././one.md"]) {
      expect(applyNotesEdit(notes, text("all red", "x", { path: named }), local)).toHaveProperty("notes");
    }
  });

  it.each([
    "one.md",
    "/notes/one.md.bak",
    "/notes/../notes/one.md",
    "~/one.md",
    "/etc/passwd",
    "",
    "/notes/one.md/",
  ])("refuses an edit of another path, and names the path of the notes (path of the edit: %s)", (named) => {
    expect(bodiesAfter(text("all red", "x", { path: named }))).toMatch(
      /only edit the notes .* exactly this path: \/notes\/one\.md$/,
    );
  });

  it("refuses a text edit that cannot be applied and says what to do", () => {
    expect(bodiesAfter(text("", "x"))).toMatch(/empty.*italic line/);
    expect(bodiesAfter(text("all red", "all red"))).toMatch(/the same.*Leave/);
    expect(bodiesAfter(text("- red\r\n", "- red\n"))).toMatch(/the same/);
    expect(bodiesAfter(text("all blue", "x"))).toMatch(/not in the notes.*exactly/);
    expect(bodiesAfter(text("u-1", "u-9"))).toMatch(/not in the notes/);
  });

  it.each([
    ["# Log", "# Worklog", 'damage the line "# Log"'],
    ["_steps_\n\n", "", 'damage the line "_steps_"'],
    ["_now_", "now", 'damage the line "_now_"'],
    ["# Log\n_steps_", "_steps_\n# Log", 'damage the line "# Log"'],
    ["all red\n", "all red\n# Log\n", 'repeat the line "# Log"'],
    ["- green", "- green\n_now_", 'repeat the line "_now_"'],
    ["# Current State\n_now_", "# Log\n_steps_", 'damage the line "# Current State"'],
    ["# Current State", "_bad_\n_bad_\nx", 'damage the line "# Current State"'],
  ])(
    "refuses to replace %j when this would damage or repeat a heading or an italic line, and names the line",
    (oldText, newText, words) => {
      expect(bodiesAfter(text(oldText, newText))).toContain(words);
    },
  );

  it("refuses an edit of the text above the first heading, which belongs to the user", () => {
    expect(bodiesAfter(text("mine", "yours"))).toMatch(/above the first heading/);
    expect(bodiesAfter(text("# Current State", "x\n# Current State"))).toMatch(/above the first heading/);
    const forged = text("# Current State", "<!-- longhaul: noted up to message u-9 -->\n# Current State");
    expect(bodiesAfter(forged)).toMatch(/above the first heading/);
  });

  it("refuses an edit that would make the notes longer than 300,000 characters", () => {
    const huge = "x".repeat(200_000);
    expect(bodiesAfter(text("e", huge, { replaceAll: true }))).toMatch(/longer than 300000 characters/);
    const long = withState("x\n".repeat(200_000));
    expect(bodiesAfter(text("- red", "- redder"), long)).toMatch(/longer than/);
    expect(bodiesAfter(text("- red", "- r"), long)).toContain("- r\n- green");
  });
});

function withState(body: string): Notes {
  return { ...notes, sections: notes.sections.map((one, at) => (at === 0 ? { ...one, body } : one)) };
}

describe("a section edit of the notes", () => {
  it("a section edit replaces the text of a section or appends to it", () => {
    expect(bodiesAfter(section("Current State", "\n all green \n\n"))).toEqual([
      " all green ",
      "",
      "- red\n- green",
    ]);
    expect(bodiesAfter(section("Log", "- blue", "append"))).toEqual([
      "all red",
      "",
      "- red\n- green\n- blue",
    ]);
    expect(bodiesAfter(section("Current State", "2. b", "append"))).toContain("all red\n2. b");
    expect(bodiesAfter(section("Current State", "And more", "append"))).toContain("all red\n\nAnd more");
    expect(bodiesAfter(section("Errors & Corrections", "- a", "append"))).toContain("- a");
    expect(bodiesAfter(section("Log", ""))).toEqual(["all red", "", ""]);
  });

  it.each([
    "errors & corrections",
    "# Errors & Corrections",
    "**Errors and Corrections:**",
    "ERRORS  &  CORRECTIONS",
  ])("a section edit finds its section by name, ignoring case and punctuation: %s", (name) => {
    expect(bodiesAfter(section(name, "x"))).toEqual(["all red", "x", "- red\n- green"]);
  });

  it("refuses an edit of an unknown section and lists the existing sections", () => {
    const refused = bodiesAfter(section(`Nothing\n${"x".repeat(500)}`, "x"));
    expect(refused).toMatch(
      /^There is no section "Nothing x+…"\. .*: Current State, Errors & Corrections, Log\.$/,
    );
    expect(refused.length).toBeLessThan(300);
    expect(bodiesAfter(section("", "x"))).toMatch(/There is no section ""/);
  });

  it("refuses a section edit that contains a template line, and names the line", () => {
    expect(bodiesAfter(section("Log", "# Log\n_steps_\n- x"))).toMatch(
      /contains "# Log".*below the italic line/,
    );
    expect(bodiesAfter(section("Log", "x\r\n_now_ \r\n", "append"))).toMatch(/contains "_now_"/);
  });

  it("refuses a section edit that makes the notes too long or appends no text", () => {
    expect(bodiesAfter(section("Log", " \n", "append"))).toMatch(/no text to append/);
    expect(bodiesAfter(section("Log", "x".repeat(300_000)))).toMatch(/longer than/);
    expect(bodiesAfter(section("Log", "x".repeat(299_000)))).toHaveLength(3);
  });

  it("returns the same notes object when a section edit changes nothing", () => {
    const result = applyNotesEdit(notes, section("Log", "- red\n- green\n"), target);
    expect("notes" in result && result.notes).toBe(notes);
  });

  it("a section edit finds every section of the default template by its name", () => {
    const before = parseNotes("", OUR_TEMPLATE);
    for (const [at, { heading }] of OUR_TEMPLATE.sections.entries()) {
      const result = applyNotesEdit(before, section(heading.slice(2), "x"), { path, template: OUR_TEMPLATE });
      expect("notes" in result && result.notes.sections[at]?.body).toBe("x");
    }
  });
});

describe("applyNotesEdits", () => {
  it("applyNotesEdits applies edits in order and continues after a refused edit", () => {
    const edits = [
      section("Current State", "one"),
      text("one", "two"),
      text("all red", "x"),
      section("Nowhere", "x"),
      text("two", "three"),
    ];
    const { notes: after, outcomes } = applyNotesEdits(notes, edits, target);
    expect(after.sections[0]?.body).toBe("three");
    expect(outcomes.map(({ edit }) => edit)).toEqual(edits);
    expect(outcomes.map(({ refused }) => refused?.split(".")[0])).toEqual([
      undefined,
      undefined,
      "The old text is not in the notes",
      'There is no section "Nowhere"',
      undefined,
    ]);
  });
});
