import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryFile, arbitraryTemplate, OUR_TEMPLATE } from "../../../test/support/arbitrary-notes.ts";
import { emptyNotes, formatNotes, isOnlyTemplate, notesAsShown, parseNotes } from "./notes-format.ts";
import { parseTemplate } from "./template.ts";

const AB = parseTemplate("# A\n_a_\n# B\n_b_\n");
const parse = (text: string): ReturnType<typeof parseNotes> => parseNotes(text, AB);
const bodies = (text: string): readonly string[] => parse(text).sections.map(({ body }) => body);

const writtenLines = (text: string): readonly string[] =>
  text
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

describe("the format of the notes file", () => {
  it("formatNotes writes the message id in a comment, then each heading with its italic line and text", () => {
    const notes = {
      preface: "By hand",
      sections: [
        { heading: "# A", guide: "_a_", body: "- one\n- two" },
        { heading: "# B", guide: "_b_", body: "" },
      ],
      coveredUuid: "u-1",
    };
    const text =
      "<!-- longhaul: noted up to message u-1 -->\n\nBy hand\n\n# A\n_a_\n\n- one\n- two\n\n# B\n_b_\n";
    expect(formatNotes(notes)).toBe(text);
    expect(parse(text)).toEqual(notes);
    expect(notesAsShown(notes)).toBe(text.slice(text.indexOf("By hand")));
  });

  it("parseNotes reads sections that a person reordered, repeated or reformatted", () => {
    expect(bodies("# A\n_a_\n\none\n\n# B\n_b_\n\ntwo\n")).toEqual(["one", "two"]);
    expect(bodies("# B\r\n_b_\r\n\r\ntwo\r\n\r\n# A\r\n_a_\r\none")).toEqual(["one", "two"]);
    expect(bodies("# A  \n_a_\t\none\n# A\n_a_\nmore\n# B\ntwo")).toEqual(["one\n\nmore", "two"]);
    expect(bodies("# B\n\n\n  two\n\nthree\n \n")).toEqual(["", "  two\n\nthree"]);
    expect(bodies("\uFEFF# A\none\n_a_\ntwo")).toEqual(["one\ntwo", ""]);
    expect(bodies("")).toEqual(["", ""]);
  });

  it("parseNotes begins a section only at a heading of the template", () => {
    expect(bodies("# A\n```sh\n# comment\n # B\n## B\n# b\n```")).toEqual([
      "```sh\n# comment\n # B\n## B\n# b\n```",
      "",
    ]);
  });

  it("parseNotes keeps the text that a person wrote above the first heading", () => {
    expect(parse("  mine\n\nmore\n# A\n").preface).toBe("  mine\n\nmore");
    expect(parse("no heading at all").preface).toBe("no heading at all");
  });

  it("parseNotes drops the italic lines that earlier versions wrote below the headings", () => {
    const earlier =
      "# Worklog\n_What was done, one short line for each step, the newest at the end._\n\n- began\n";
    const worklog = parseNotes(earlier, OUR_TEMPLATE).sections.find(({ heading }) => heading === "# Worklog");
    expect(worklog?.body).toBe("- began");
    expect(worklog?.guide).toBe("_The steps that were done, one short line for each, newest last._");
  });

  it("parseNotes keeps unknown italic lines as text of the section", () => {
    expect(bodies("# A\n_old words_\n\none")).toEqual(["_old words_\n\none", ""]);
  });

  it("parseNotes loses no line of a notes file, and reads formatted notes back unchanged", () => {
    fc.assert(
      fc.property(
        arbitraryTemplate().chain((template) => fc.tuple(fc.constant(template), arbitraryFile(template))),
        ([template, text]) => {
          const notes = parseNotes(text, template);
          const written = formatNotes(notes);
          expect(parseNotes(written, template)).toEqual(notes);
          expect(formatNotes(parseNotes(written, template))).toBe(written);
          const lines = new Set(writtenLines(written));
          // Two differences are allowed: longhaul rewrites the comment with the message id, and drops byte
          // order marks at the start of a line.
          const missing = writtenLines(text).filter(
            (line) => !lines.has(line.replace(/^\uFEFF+/, "").trim()),
          );
          expect(
            missing.filter((line) => !/^<!--\s*longhaul: noted up to message \S+\s+-->$/.test(line)),
          ).toEqual([]);
          expect(notes.sections.map(({ heading, guide }) => ({ heading, guide }))).toEqual(template.sections);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("the id of the newest noted message in a notes file", () => {
  const idIn = (comment: string): string | undefined => parse(`${comment}\n\n# A\n`).coveredUuid;

  it("reads the message id from a longhaul comment anywhere above the first heading", () => {
    expect(idIn("<!-- longhaul: noted up to message u-1 -->")).toBe("u-1");
    expect(idIn("\r\n\uFEFF <!--longhaul: noted up to message msg_01:a.b/c+d=@  -->  ")).toBe(
      "msg_01:a.b/c+d=@",
    );
    expect(parse("mine\n<!-- longhaul: noted up to message u-1 -->\nmore\n# A")).toMatchObject({
      preface: "mine\nmore",
      coveredUuid: "u-1",
    });
  });

  it("reads the message id only from a longhaul comment, and ignores a longhaul comment inside a section", () => {
    expect(idIn("<!-- of another program -->")).toBeUndefined();
    expect(parse("# A\n<!-- longhaul: noted up to message u-1 -->")).toMatchObject({
      coveredUuid: undefined,
      sections: [{ body: "<!-- longhaul: noted up to message u-1 -->" }, { body: "" }],
    });
  });

  it.each([
    "<!-- longhaul: noted up to message  -->",
    "<!-- longhaul: noted up to message a b -->",
    "<!-- longhaul: noted up to message a>b -->",
    "<!-- longhaul: noted up to message a<!--b -->",
    "<!-- longhaul: noted up to message ünïcode -->",
    `<!-- longhaul: noted up to message ${"x".repeat(129)} -->`,
    "<!-- longhaul: noted up to message u-1",
    "<!-- longhaul: noted up to message u-1 --> mine",
    "<!-- LONGHAUL: x -->",
  ])(
    "returns an empty message id, which marks nothing as noted, when the longhaul comment is damaged: %s",
    (comment) => {
      const notes = parse(`${comment}\n\n# A\n`);
      expect(notes).toMatchObject({ coveredUuid: "", preface: comment });
      expect(parse(formatNotes(notes))).toEqual(notes);
      const renewed = { ...notes, coveredUuid: "u-2" };
      expect(parse(formatNotes(renewed))).toEqual(renewed);
    },
  );

  it.each(["", "a b", "--> <b>", "x\ny", "x".repeat(129)])(
    "writes an empty message id instead of an id that is not valid in a comment: %j",
    (id) => {
      const text = formatNotes({ ...emptyNotes(AB), coveredUuid: id });
      expect(parse(text)).toEqual({ ...emptyNotes(AB), coveredUuid: "" });
      expect(text).toMatch(/^<!-- [\w: ]+ -->\n\n# A\n/);
    },
  );

  it("reads a written message id back unchanged or as empty, for any id", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uuid(), fc.string(), fc.string({ unit: "binary" })), (id) => {
        const { coveredUuid, ...rest } = parse(formatNotes({ ...emptyNotes(AB), coveredUuid: id }));
        expect([id, ""]).toContain(coveredUuid);
        expect(rest).toEqual({ preface: "", sections: emptyNotes(AB).sections });
      }),
    );
  });
});

describe("isOnlyTemplate", () => {
  it("recognizes notes without any text in their sections as empty", () => {
    expect(isOnlyTemplate(emptyNotes(OUR_TEMPLATE))).toBe(true);
    expect(isOnlyTemplate(parse(formatNotes({ ...emptyNotes(AB), coveredUuid: "u" })))).toBe(true);
    expect(isOnlyTemplate(parse("mine\n# A\n_a_\n"))).toBe(true);
    expect(isOnlyTemplate(parse("# A\n_a_\n\nx"))).toBe(false);
  });

  it("recognizes a template with other italic lines as empty notes", () => {
    expect(isOnlyTemplate(parse("# A\n_old words_\n# B\n_other words_\n"))).toBe(true);
    expect(isOnlyTemplate(parse("# A\n_old words_\n\nnoted\n# B\n_b_\n"))).toBe(false);
    expect(isOnlyTemplate(parse("# A\n_old words_\n_and new ones_\n"))).toBe(false);
  });
});
