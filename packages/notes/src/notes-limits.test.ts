import { describe, expect, it } from "vitest";
import { emptyNotes, measureNotes, NOTES_LIMITS, overLimits, parseNotes } from "./notes-format.ts";
import { parseTemplate } from "./template.ts";

const template = parseTemplate("# A\n_a_\n# B\n_b_\n# C\n_c_\n");
const notes = parseNotes("mine, and long\n# A\n_a_\n\n12345\n# C\n_c_\n\n1234567\n", template);
const measured = measureNotes(notes, (text) => text.length);

describe("the limits of notes", () => {
  it("the default limits of notes are 2,000 tokens per section and 12,000 in total", () => {
    expect(NOTES_LIMITS).toEqual({ sectionTokens: 2_000, totalTokens: 12_000 });
  });

  it("counts only the text of note sections, not headings, italic lines or text above the first heading", () => {
    expect(measured).toEqual({
      tokens: 12,
      sections: [
        { heading: "# A", tokens: 5 },
        { heading: "# B", tokens: 0 },
        { heading: "# C", tokens: 7 },
      ],
    });
    expect(measureNotes(emptyNotes(template), () => 3).tokens).toBe(0);
  });

  it.each([
    [{ sectionTokens: 7, totalTokens: 12 }, [], false],
    [{ sectionTokens: 6, totalTokens: 12 }, ["# C"], false],
    [{ sectionTokens: 4, totalTokens: 11 }, ["# A", "# C"], true],
    [{ sectionTokens: 7, totalTokens: 11 }, [], true],
  ])(
    "with the limits %j, the sections over their limit are %j, and the total is over its limit: %s",
    (limits, sections, isTotalOver) => {
      const excess = overLimits(measured, limits);
      expect(excess.sections.map(({ heading }) => heading)).toEqual(sections);
      expect(excess.isTotalOver).toBe(isTotalOver);
    },
  );
});
