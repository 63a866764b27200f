import { createColors } from "picocolors";
import { describe, expect, it } from "vitest";
import { answerOf, questionLines } from "./plain-screen.ts";
import type { Choice } from "./screen.ts";

const choice: Choice = {
  title: "Run it?",
  detail: "npm test\u001b[2J",
  options: [
    { label: "Yes", key: "y" },
    { label: "No", description: "nothing is run" },
  ],
  otherLabel: "Instead",
};
const several: Choice = { ...choice, mayChooseSeveral: true };

describe("questions on a terminal with plain lines", () => {
  it("shows a question in plain lines with numbered options", () => {
    expect(questionLines(choice, createColors(false))).toEqual([
      "Run it?",
      "  npm test",
      "1. Yes (y)",
      "2. No: nothing is run",
      "3. Instead",
      "Enter a number. An empty line declines.",
    ]);
  });

  it("accepts the number or letter of an option as the answer, and treats an empty line as a refusal to answer", () => {
    expect(answerOf(choice, " 2 ")).toEqual({ type: "answered", chosen: { picked: [1] } });
    expect(answerOf(choice, "Y")).toEqual({ type: "answered", chosen: { picked: [0] } });
    expect(answerOf(choice, "")).toEqual({ type: "answered", chosen: undefined });
  });

  it("accepts several numbers, and then a line of free text, if the question allows several options", () => {
    expect(answerOf(several, "2, 1 2")).toEqual({ type: "answered", chosen: { picked: [0, 1] } });
    expect(answerOf(several, "2 3")).toEqual({ type: "words", picked: [1] });
    expect(answerOf(several, "use pnpm", [1])).toEqual({
      type: "answered",
      chosen: { picked: [1], words: "use pnpm" },
    });
  });

  const grant: Choice = { ...choice, grants: true };

  it("accepts only the exact number of an option as the answer to a permission question", () => {
    expect(answerOf(grant, "1")).toEqual({ type: "answered", chosen: { picked: [0] } });
    expect(answerOf(grant, "3")).toEqual({ type: "words", picked: [] });
    expect(answerOf(grant, " ")).toEqual({ type: "answered", chosen: undefined });
    expect(questionLines(grant, createColors(false)).slice(0, 3)).toEqual([
      "Run it?",
      "| npm test",
      "1. Yes",
    ]);
  });

  it.each(["y", "Y", "a", "n", "yes", "always", "what", " 1", "1 ", "1.", "1,", "01", "+1", "1 1", "１"])(
    "does not accept the line %j as the answer to a permission question",
    (line) => {
      expect(answerOf(grant, line)).toEqual({
        type: "unclear",
        words: "Please answer with a number from 1 to 3.",
      });
    },
  );

  it("repeats the title of a permission question below a long detail", () => {
    const lines = questionLines({ ...grant, detail: "\n".repeat(1000) }, createColors(false));
    expect(lines.filter((line) => line === "Run it?")).toHaveLength(2);
    expect(lines.at(-5)).toBe("Run it?");
  });

  it.each(["0", "4", "1 2", "maybe", "99999999999"])(
    "asks a question again after the invalid answer %j",
    (line) => {
      expect(answerOf(choice, line).type).toBe("unclear");
    },
  );
});
