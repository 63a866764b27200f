import { describe, expect, it } from "vitest";
import { presentSections, SECTION_NAMES, sectionHeading, splitSections } from "./summary-message.ts";

const nine = SECTION_NAMES.map((name, index) => `${index + 1}. ${name}:\n   text ${index + 1}`).join("\n\n");

describe("the nine sections of a summary", () => {
  it("uses the nine section names that other programs look for, in order", () => {
    expect(SECTION_NAMES).toEqual([
      "Primary Request and Intent",
      "Key Technical Concepts",
      "Files and Code Sections",
      "Errors and Fixes",
      "Problem Solving",
      "All User Messages",
      "Pending Tasks",
      "Current Work",
      "Optional Next Step",
    ]);
  });

  it("finds summary sections under numbered headings in any letter case", () => {
    expect(presentSections(nine)).toEqual(SECTION_NAMES);
    expect(presentSections(nine.toLowerCase())).toEqual(SECTION_NAMES);
  });

  it.each([
    "## 4. Errors and Fixes",
    "4. **Errors and fixes:**",
    "**4. Errors and Fixes**",
    "Errors and fixes:",
  ])("finds a summary section under the heading %s", (heading) =>
    expect(presentSections(`${heading}\n- one`)).toEqual(["Errors and Fixes"]),
  );

  it("finds no summary section in running text", () => {
    expect(
      presentSections("The Current Work goes on. Pending Tasks remain, as the errors and fixes show."),
    ).toEqual([]);
  });

  it("finds no summary section inside fenced code", () => {
    expect(presentSections("1. Current Work\n```md\n## 7. Pending Tasks\n```\n")).toEqual(["Current Work"]);
  });

  it("finds all summary sections even when a code fence among them was never closed", () => {
    const torn = nine.replace("text 3", "```ts\nconst a = 1;");
    const closedByNext = torn.replace("text 6", "text\n```");
    expect(presentSections(closedByNext)).toEqual(SECTION_NAMES);
  });

  it("keeps text on the same line as a section heading", () => {
    expect(splitSections("7. Pending Tasks: none\n8. Current Work\nmore")).toEqual([
      { name: "Pending Tasks", title: "Pending Tasks", body: "none" },
      { name: "Current Work", title: "Current Work", body: "more" },
    ]);
  });

  it("finds the sections under the headings that longhaul writes, in every variant", () => {
    for (const name of SECTION_NAMES) {
      for (const variant of ["whole", "from", "up-to"] as const)
        expect(presentSections(sectionHeading(name, variant))).toEqual([name]);
    }
  });

  it("uses other titles for two sections of an 'up-to' summary, and reads them as the usual sections", () => {
    expect(sectionHeading("Current Work", "up-to")).toBe("## 8. Work Completed");
    expect(sectionHeading("Optional Next Step", "up-to")).toBe("## 9. Context for Continuing Work");
    expect(splitSections("8. Work Completed: all\n**9. Context for continuing work**\nnone")).toEqual([
      { name: "Current Work", title: "Work Completed", body: "all" },
      { name: "Optional Next Step", title: "Context for continuing work", body: "none" },
    ]);
  });
});
