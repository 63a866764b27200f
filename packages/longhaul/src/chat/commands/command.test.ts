import { createColors } from "picocolors";
import { describe, expect, it } from "vitest";
import { described } from "./command.ts";

const colors = createColors(false);
const ROWS = [
  ["/a [n]", "one two three four five six seven"],
  ["/long", "short"],
] as const;

describe("names with what they are", () => {
  it("are folded beside the names, and nothing is cut", () => {
    expect(described(ROWS, { width: 34, colors })).toBe(
      ["/a [n]  one two three four five", "        six seven", "/long   short"].join("\n"),
    );
  });

  it("stand below the names where there is little room", () => {
    expect(described(ROWS, { width: 20, colors })).toBe(
      ["/a [n]", "  one two three four", "  five six seven", "/long", "  short"].join("\n"),
    );
  });

  it("let nothing of a name or of words steer the terminal", () => {
    expect(described([["a\u001b[31m\nb", "c\u001b[2J\nd"]], { width: 80, colors })).toBe("a b  c d");
  });
});
