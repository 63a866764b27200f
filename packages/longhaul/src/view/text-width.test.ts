import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { fitText, foldText, textWidth, withOnlyColors } from "./text-width.ts";

describe("textWidth", () => {
  it("counts two columns for wide scripts and emoji, and none for combining marks and joiners", () => {
    const widths = [
      "abc",
      "e\u0301",
      "日本",
      "𠀀",
      "👩",
      "👩\u200d👩\u200d👧",
      "👍🏽",
      "\u001b[31mred\u001b[39m",
    ].map(textWidth);
    expect(widths).toEqual([3, 1, 4, 2, 2, 6, 4, 3]);
  });
});

describe("textWidth of one character", () => {
  it("textWidth never counts fewer columns for a character than the package string-width", () => {
    const narrower: string[] = [];
    for (let code = 0x20; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code);
      if (/[\p{Cc}\p{Cn}\p{Co}\p{Cs}]/u.test(character)) continue;
      if (textWidth(character) < stringWidth(character)) narrower.push(code.toString(16));
    }
    expect(narrower).toEqual([]);
  });
});

describe("foldText", () => {
  it("wraps text between words, indents all lines after the first, and keeps spaces inside a line", () => {
    expect(foldText("Summary     by nobody at all", 20, "  ")).toBe("Summary     by\n  nobody at all");
    expect(foldText("short", 20)).toBe("short");
    expect(foldText("", 20)).toBe("");
    expect(foldText("abcdefgh and more", 5, "  ")).toBe("abcde\nfgh\n  and\n  mor\n  e");
  });

  it("wraps any words into lines that fit the width, without losing a character", () => {
    const words = fc.array(fc.stringMatching(/^[a-zäö漢]{1,30}$/), { maxLength: 30 });
    fc.assert(
      fc.property(words, fc.integer({ min: 5, max: 60 }), (parts, width) => {
        const lines = foldText(parts.join(" "), width, "  ").split("\n");
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
        expect(lines.join("").replaceAll(" ", "")).toBe(parts.join(""));
        // Only a word that is wider than a line is broken.
        const whole = parts.filter((part) => textWidth(part) + 2 <= width);
        const shown = lines.flatMap((line) => line.trim().split(" "));
        expect(whole.filter((part) => !shown.includes(part))).toEqual([]);
      }),
    );
  });

  it("keeps a number and its unit on one line when foldText wraps a text", () => {
    expect(foldText("Notes updated in 1.3 s", 20)).toBe("Notes updated in\n1.3 s");
    expect(foldText("a file of 2.8 MB, 10 min old", 16)).toBe("a file of\n2.8 MB, 10 min\nold");
    expect(foldText("part 3 step", 8)).toBe("part 3\nstep");
  });

  it("does not count color codes as width when foldText wraps a text", () => {
    expect(foldText("\u001b[1mbold\u001b[22m and plain", 14)).toBe("\u001b[1mbold\u001b[22m and plain");
  });
});

describe("fitText", () => {
  it("fits any text into one line of at most the given width, without control characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        const fitted = fitText(text, width);
        expect(textWidth(fitted)).toBeLessThanOrEqual(width);
        expect(fitted).not.toMatch(/[\p{Cc}\n]/u);
      }),
    );
  });
});

describe("withOnlyColors", () => {
  it("keeps the colors that longhaul writes, and shows other control sequences as escape codes", () => {
    const hostile = "a\u001b[31mred\u001b[39m\u001b[8mhidden\u001b]52;c;eA==\u0007\u009b2J\u0085\tb\n";
    const shown = "\\u001b[8mhidden\\u001b]52;c;eA==\\u0007\\u009b2J\\u0085\tb\n";
    expect(withOnlyColors(hostile, true)).toBe(`a\u001b[31mred\u001b[39m${shown}`);
    expect(withOnlyColors(hostile, false)).toBe(`ared${shown}`);
  });
});
