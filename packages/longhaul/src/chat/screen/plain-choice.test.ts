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

describe("a question that is answered with a line", () => {
  it("has its options numbered", () => {
    expect(questionLines(choice, createColors(false))).toEqual([
      "Run it?",
      "  npm test",
      "1. Yes (y)",
      "2. No: nothing is run",
      "3. Instead",
      "A number; an empty line declines.",
    ]);
  });

  it("takes a number, a letter, or nothing", () => {
    expect(answerOf(choice, " 2 ")).toEqual({ type: "answered", chosen: { picked: [1] } });
    expect(answerOf(choice, "Y")).toEqual({ type: "answered", chosen: { picked: [0] } });
    expect(answerOf(choice, "")).toEqual({ type: "answered", chosen: undefined });
  });

  it("takes several where these may be, and words beside them", () => {
    expect(answerOf(several, "2, 1 2")).toEqual({ type: "answered", chosen: { picked: [0, 1] } });
    expect(answerOf(several, "2 3")).toEqual({ type: "words", picked: [1] });
    expect(answerOf(several, "use pnpm", [1])).toEqual({
      type: "answered",
      chosen: { picked: [1], words: "use pnpm" },
    });
  });

  const grant: Choice = { ...choice, grants: true };

  it("takes exactly a number where it grants something", () => {
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
    "does not take %j as permission",
    (line) => {
      expect(answerOf(grant, line)).toEqual({
        type: "unclear",
        words: "Please answer with a number from 1 to 3.",
      });
    },
  );

  it("names what it is about again below a long detail", () => {
    const lines = questionLines({ ...grant, detail: "\n".repeat(1000) }, createColors(false));
    expect(lines.filter((line) => line === "Run it?")).toHaveLength(2);
    expect(lines.at(-5)).toBe("Run it?");
  });

  it.each(["0", "4", "1 2", "maybe", "99999999999"])("asks again for %j", (line) => {
    expect(answerOf(choice, line).type).toBe("unclear");
  });
});
