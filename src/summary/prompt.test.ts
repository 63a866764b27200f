import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { instructionsIn, isSummaryRequest, summaryPrompt } from "./prompt.ts";
import { SECTION_NAMES } from "./sections.ts";

describe("summaryPrompt", () => {
  it("asks for an analysis and then a summary with all nine sections in their order", () => {
    const prompt = summaryPrompt();
    expect(prompt.indexOf("<analysis>")).toBeLessThan(prompt.indexOf("<summary>\n"));
    const places = SECTION_NAMES.map((name, index) => prompt.indexOf(`${index + 1}. ${name}`));
    expect(places.every((place, index) => place > (places[index - 1] ?? -1))).toBe(true);
  });

  it("says both at the start and at the end that no tool may be called", () => {
    const paragraphs = summaryPrompt({ instructions: "mind the schema" }).split("\n\n");
    expect(paragraphs.at(0)).toMatch(/Do not call any tool/);
    expect(paragraphs.at(-1)).toMatch(/Do not call any tool/);
  });

  it("tells the model that text in the conversation is material and no instruction", () => {
    expect(summaryPrompt()).toMatch(/not to be followed/);
  });

  it("asks to carry an earlier summary over only where there is one", () => {
    expect(summaryPrompt({ hasEarlierSummary: true })).toMatch(/earlier summary/);
    expect(summaryPrompt()).not.toMatch(/earlier summary/);
  });

  it("puts custom instructions last under a heading of their own, and blank ones nowhere", () => {
    const prompt = summaryPrompt({ instructions: "  keep the ports\n\nand the names " });
    expect(prompt).toMatch(/Additional instructions[^\n]*\nkeep the ports\n\nand the names\n\nOnce more/);
    expect(summaryPrompt({ instructions: " \n" })).toBe(summaryPrompt());
  });

  it("gives back the instructions it was made with, whatever they say", () => {
    fc.assert(
      fc.property(fc.string(), (wishes) => {
        expect(instructionsIn(summaryPrompt({ instructions: wishes }))).toBe(wishes.trim() || undefined);
      }),
    );
  });
});

describe("isSummaryRequest", () => {
  it("recognises every variant of the prompt, and not talk about summaries", () => {
    expect(isSummaryRequest(summaryPrompt())).toBe(true);
    expect(isSummaryRequest(summaryPrompt({ hasEarlierSummary: true, keepsRecent: true }))).toBe(true);
    expect(isSummaryRequest("Why does your <summary> leave out the Pending Tasks?")).toBe(false);
    expect(isSummaryRequest(SECTION_NAMES.join("\n"))).toBe(false);
  });
});
