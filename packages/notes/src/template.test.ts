import { LonghaulError } from "@longhaul/core/errors";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryFile, arbitraryTemplate, OUR_TEMPLATE } from "../../../test/support/arbitrary-notes.ts";
import { emptyNotes, isItalicLine, notesAsShown, sectionName } from "./notes-format.ts";
import { parseTemplate } from "./template.ts";

function errorOf(text: string): LonghaulError | undefined {
  try {
    parseTemplate(text);
    return undefined;
  } catch (error) {
    if (error instanceof LonghaulError) return error;
    throw error;
  }
}

describe("the notes template", () => {
  it("the default template has ten sections, each with a heading and an italic line", () => {
    expect(OUR_TEMPLATE.sections.map(({ heading }) => sectionName(heading))).toEqual([
      "Session Title",
      "Current State",
      "Task Specification",
      "Files and Functions",
      "Workflow",
      "Errors & Corrections",
      "Codebase and System Documentation",
      "Learnings",
      "Key Results",
      "Worklog",
    ]);
    expect(new Set(OUR_TEMPLATE.sections.map(({ guide }) => guide)).size).toBe(10);
  });

  it("parseTemplate accepts a user's template with any line ends", () => {
    const sections = [
      { heading: "# Plan", guide: "_What next_" },
      { heading: "# Done #", guide: "*What is done, in snake_case*" },
    ];
    expect(
      parseTemplate("\uFEFF# Plan\r\n\r\n  _What next_ \r\n# Done #\r\n*What is done, in snake_case*"),
    ).toEqual({
      sections,
    });
  });

  it.each([
    ["", 1, "no section"],
    ["\n \n", 1, "no section"],
    ["My notes\n# A\n_a_", 1, "above the first heading"],
    ["## A\n_a_", 1, "above the first heading"],
    ["#A\n_a_", 1, "above the first heading"],
    ["# A\n_a_\n\n# B", 4, "# B has no italic line"],
    ["# A\n# B\n_b_", 1, "# A has no italic line"],
    ["# A\nplain", 1, "# A has no italic line"],
    ["# A\n__bold__", 1, "# A has no italic line"],
    ["# A\n**bold**", 1, "# A has no italic line"],
    ["# A\n_half", 1, "# A has no italic line"],
    ["# A\n_a_\nmore", 3, "more than a heading and one italic line"],
    ["# A\n_a_\n_b_", 3, "more than a heading and one italic line"],
    ["# A\n_a_\n\n# B\n_b_\n\n# *a*:\n_c_", 7, "the same heading as in line 1"],
    ["# R & D\n_a_\n# r and d\n_b_", 3, "the same heading as in line 1"],
  ])(
    "parseTemplate refuses an invalid template and names the problem and the line: %j",
    (text, line, words) => {
      const error = errorOf(text);
      expect(error).toMatchObject({ code: "notes-template-invalid", facts: { line } });
      expect(error?.message).toContain(`line ${line}:`);
      expect(error?.message).toContain(words);
      expect(error?.remedy).toContain("# Current State");
    },
  );

  it("parseTemplate returns the same template after that template was written as empty notes", () => {
    fc.assert(
      fc.property(arbitraryTemplate(), (template) => {
        expect(parseTemplate(notesAsShown(emptyNotes(template)))).toEqual(template);
      }),
    );
  });

  it("for any text, parseTemplate either returns lines of the text or refuses the text with a line number", () => {
    fc.assert(
      fc.property(arbitraryTemplate().chain(arbitraryFile), (text) => {
        const error = errorOf(text);
        const lines = text.split(/\r\n?|\n/).map((line) => line.trim());
        if (error === undefined) {
          const { sections } = parseTemplate(text);
          expect(sections.length).toBeGreaterThan(0);
          for (const { heading, guide } of sections)
            expect(lines).toEqual(expect.arrayContaining([heading, guide]));
        } else {
          expect(error.code).toBe("notes-template-invalid");
          expect(error.facts.line).toBeLessThanOrEqual(lines.length);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("isItalicLine", () => {
  it.each(["_a_", "*a*", "_a b_", " _a_ ", "_snake_case too_"])("accepts %j as an italic line", (line) => {
    expect(isItalicLine(line)).toBe(true);
  });

  it.each(["", "_", "__", "_ a_", "_a _", "__a__", "**a**", "***", "_a*", "a", "_a_ b", "x _a_"])(
    "rejects %j as an italic line",
    (line) => {
      expect(isItalicLine(line)).toBe(false);
    },
  );
});
