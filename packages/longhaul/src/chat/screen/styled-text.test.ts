import fc from "fast-check";
import { createColors } from "picocolors";
import { describe, expect, it } from "vitest";
import { textWidth } from "../../view/text-width.ts";
import { cutLine, foldLine, safeLines } from "./styled-text.ts";

const { red, bold, dim } = createColors(true);
const lines = (text: string, hasColors = true): readonly string[] => safeLines(text, hasColors).lines;
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
const COLORS = /\u001b\[\d{1,3}m/g;
const bare = (text: string): string => text.replace(COLORS, "");

describe("text that is safe for a terminal", () => {
  it("removes control and direction characters from text, except colors, and shows tabs as spaces", () => {
    expect(lines("a\u001b[2J\u0007b\u001b]0;title\u0007\r\nc\td\u009b1A")).toEqual(["ab", "c   d"]);
    expect(lines("rm \u202egnp.exe")).toEqual(["rm gnp.exe"]);
    expect(lines("rm \u061cgnp.exe")).toEqual(["rm gnp.exe"]);
    expect(lines("日\tb")).toEqual(["日  b"]);
  });

  it("removes colors on request, and always removes styles that hide text", () => {
    expect(lines(red("a"), false)).toEqual(["a"]);
    expect(lines("\u001b[8mhidden\u001b[38;5;0mblack")).toEqual(["hiddenblack"]);
  });

  it("starts each line with the styles that are active there, and resets the styles at the end of the line", () => {
    expect(lines(bold(`a${red("b\nc")}d\ne`))).toEqual([
      "\u001b[1ma\u001b[31mb\u001b[0m",
      "\u001b[1m\u001b[31mc\u001b[39md\u001b[0m",
      "\u001b[1me\u001b[22m",
    ]);
  });

  const text = fc.array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 6 }),
      fc.constantFrom(
        "\u001b",
        "\u001b[31m",
        "\u001b[0m",
        "\u001b[1",
        "\n",
        "\r",
        "\t",
        "\u009b",
        "m",
        "日本",
        "\u202e",
        "\u061c",
      ),
    ),
    { maxLength: 20 },
  );

  it("removes control characters from any text, and wraps the text into rows of at most the given width", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 30 }), fc.boolean(), (pieces, width, hasColors) => {
        for (const line of lines(pieces.join(""), hasColors)) {
          expect(hasColors ? bare(line) : line).not.toMatch(/\p{Cc}|\p{Cs}|\p{Bidi_Control}/u);
          const rows = foldLine(line, width);
          for (const row of rows) expect(textWidth(row)).toBeLessThanOrEqual(width);
          expect(rows.map(bare).join("")).toBe(bare(line));
          expect(textWidth(cutLine(line, width))).toBeLessThanOrEqual(width);
        }
      }),
    );
  });

  it("cuts a long line with an ellipsis, and resets its colors before the ellipsis", () => {
    expect(cutLine(dim("abcdef"), 4)).toBe("\u001b[2mabc\u001b[0m…");
    expect(cutLine("日本語", 4)).toBe("日…");
    expect(foldLine(dim("abcd"), 2)).toEqual(["\u001b[2mab\u001b[0m", "\u001b[2mcd\u001b[22m"]);
  });
});
