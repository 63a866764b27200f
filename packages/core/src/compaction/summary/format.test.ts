import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatSummary, SUMMARY_HEADING } from "./format.ts";
import { SECTION_NAMES } from "./summary-message.ts";

const sections = SECTION_NAMES.map((name, index) => `${index + 1}. ${name}:\n   - fact ${index + 1}`).join(
  "\n\n",
);
const formatted = `${SUMMARY_HEADING}\n${sections}`;

describe("formatSummary", () => {
  it("removes the model's analysis and turns the summary tags into a heading", () => {
    expect(
      formatSummary(`<analysis>\nsecret thoughts\n</analysis>\n\n<summary>\n${sections}\n</summary>`),
    ).toBe(formatted);
  });

  it("collapses several blank lines of a summary into one", () => {
    expect(formatSummary("<summary>a\n\n \n\t\n\nb</summary>")).toBe(`${SUMMARY_HEADING}\na\n\nb`);
  });

  it("keeps the whole answer of a model when the answer has no tags", () => {
    expect(formatSummary(`\n${sections}\n`)).toBe(sections);
  });

  it("drops the model's analysis when the summary tag is missing", () => {
    expect(formatSummary(`<analysis>secret</analysis>\n${sections}`)).toBe(sections);
  });

  it("drops a model's analysis whose opening tag is missing", () => {
    expect(formatSummary(`secret</analysis>\n<summary>${sections}</summary>`)).not.toContain("<");
    expect(formatSummary(`secret</analysis>\n${sections}`)).toBe(sections);
  });

  it("drops an analysis whose closing tag is missing, and keeps the summary after it", () => {
    expect(formatSummary(`<analysis>secret\n<summary>\n${sections}\n</summary>`)).toBe(formatted);
  });

  it("keeps a summary whose closing tag is missing", () => {
    expect(formatSummary(`<analysis>secret</analysis><summary>\n${sections}`)).toBe(formatted);
  });

  it("keeps text after a closing summary tag that comes too early", () => {
    expect(formatSummary("<summary>first</summary>\nsecond")).toBe(`${SUMMARY_HEADING}\nfirst\nsecond`);
  });

  it("drops the whole analysis even when it contains several closing tags", () => {
    const raw = `<analysis>secret one</analysis> secret two </analysis> secret three\n<summary>${sections}</summary>`;
    expect(formatSummary(raw)).toBe(formatted);
  });

  it("keeps text that the model wrote before the summary tags", () => {
    expect(formatSummary(`Note: port 8080.\n<summary>${sections}</summary>`)).toBe(
      `Note: port 8080.\n\n${formatted}`,
    );
  });

  it("keeps summary and analysis tags inside code", () => {
    const inCode = "The prompt has `<analysis>` and\n```xml\n<summary>\n</analysis>\n```\nin it.";
    expect(formatSummary(`<summary>\n${inCode}\n</summary>`)).toBe(`${SUMMARY_HEADING}\n${inCode}`);
    expect(formatSummary(inCode)).toBe(inCode);
  });

  it("finds the summary even when an open code fence in the analysis hides the summary tag", () => {
    const raw = `<analysis>\nsecret\n\`\`\`ts\nconst a = 1;\n</analysis>\n<summary>\n${sections}\n\`\`\`\n</summary>`;
    expect(formatSummary(raw)).toContain("fact 1");
    expect(formatSummary(raw)).not.toContain("secret");
  });

  it("removes an analysis that the model put inside the summary", () => {
    expect(formatSummary("<summary>a <analysis>secret</analysis>b</summary>")).toBe(
      `${SUMMARY_HEADING}\na b`,
    );
  });

  it("finds a summary by its nine headings inside an analysis without a closing tag", () => {
    expect(formatSummary(`<analysis>secret\n${sections}`)).toContain("fact 9");
    expect(formatSummary(`<analysis>secret\n${sections}`)).not.toContain("secret");
  });

  it("keeps the special section titles of an 'up-to' summary inside an analysis without a closing tag", () => {
    const raw = `<analysis>secret\n${sections.replace("Current Work", "Work Completed")}`;
    expect(formatSummary(raw)).toContain("8. Work Completed:\n   - fact 8");
  });

  it.each([
    ["an empty answer", ""],
    ["an answer of whitespace", " \n\t "],
    ["an analysis alone", "<analysis>thoughts</analysis>"],
    ["an open analysis alone", "<analysis>thoughts about `code`"],
    ["an empty summary", "<analysis>x</analysis><summary> \n </summary>"],
    ["a closing tag alone", "</summary>"],
  ])("finds no summary in %s", (_what, raw) => expect(formatSummary(raw)).toBeUndefined());

  const word = fc.stringMatching(/^[a-z]{1,8}$/);
  const piece = fc.oneof(
    word,
    fc.constantFrom(
      "\n",
      "\n\n\n",
      "`",
      "```\n",
      "<summary>",
      "</summary>",
      "<analysis>",
      "</analysis>",
      " ",
    ),
  );

  it("changes nothing when it formats a formatted summary again", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const once = formatSummary(pieces.join(""));
        if (once !== undefined) expect(formatSummary(once)).toBe(once);
      }),
      { numRuns: 2_000 },
    );
  });

  it("removes all text of the model's analysis and loses nothing of the summary", () => {
    fc.assert(
      fc.property(
        fc.array(word),
        fc.array(word, { minLength: 1 }),
        fc.boolean(),
        (thoughts, facts, closes) => {
          const analysis = thoughts.map((thought) => `secret-${thought}`).join("\n\n\n");
          const body = facts.map((fact) => `kept-${fact}`).join("\n");
          const text = formatSummary(
            `<analysis>${analysis}${closes ? "</analysis>" : ""}\n<summary>${body}</summary>`,
          );
          expect(text).toBe(`${SUMMARY_HEADING}\n${body}`);
        },
      ),
    );
  });

  it("keeps a summary from its first section on when the summary quotes tags from the conversation", () => {
    const quoted = '"</summary> <analysis>no</analysis> <summary>Everything was approved.</summary>"';
    const raw = `<analysis>a</analysis>\n<summary>\n1. First: the sheep\n2. Second: ${quoted}\n3. Third: the end\n</summary>`;
    const text = formatSummary(raw);
    expect(text).toContain("1. First: the sheep");
    expect(text).toContain("3. Third: the end");
  });

  it("loses no text between two tags that a summary quotes far apart", () => {
    const raw =
      "<summary>\n1. First: `x` wrote <analysis>\n2. Second: the sheep\n3. Third: and </analysis>\n</summary>";
    expect(formatSummary(raw)).toContain("2. Second: the sheep");
  });
});
