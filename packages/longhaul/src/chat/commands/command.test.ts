import { createColors } from "picocolors";
import { describe, expect, it } from "vitest";
import { described } from "./command.ts";

const colors = createColors(false);
const ROWS = [
  ["/a [n]", "one two three four five six seven"],
  ["/long", "short"],
] as const;

describe("described, the list of command names and descriptions", () => {
  it("wraps long descriptions next to their command names, and cuts no description", () => {
    expect(described(ROWS, { width: 34, colors })).toBe(
      ["/a [n]  one two three four five", "        six seven", "/long   short"].join("\n"),
    );
  });

  it("puts descriptions below the command names on a narrow screen", () => {
    expect(described(ROWS, { width: 20, colors })).toBe(
      ["/a [n]", "  one two three four", "  five six seven", "/long", "  short"].join("\n"),
    );
  });

  it("removes control sequences from command names and descriptions", () => {
    expect(described([["a\u001b[31m\nb", "c\u001b[2J\nd"]], { width: 80, colors })).toBe("a b  c d");
  });
});
