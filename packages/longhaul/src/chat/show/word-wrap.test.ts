import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textWidth } from "../../view/text-width.ts";
import { WordWrap, wrapped } from "./word-wrap.ts";

function inPieces(text: string, width: number, pieces: readonly number[]): string {
  const wrap = new WordWrap(() => width);
  let [out, rest] = ["", text];
  for (const length of pieces) {
    out += wrap.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return out + wrap.push(rest) + wrap.end();
}

describe("WordWrap", () => {
  it("wraps text between words, and indents wrapped list items under their text", () => {
    expect(wrapped("one two three", 9)).toBe("one two\nthree");
    expect(wrapped("- one two three\n10. four five six", 9)).toBe(
      "- one two\n  three\n10. four\n    five\n    six",
    );
    expect(wrapped("一二三 四五六", 8)).toBe("一二三\n四五六");
  });

  it("does not wrap code and tables, and does not break a word that is longer than a row", () => {
    const code = "```ts\nconst answer = 42;\n```";
    expect(wrapped(`a b c d e f\n${code}\na b c d e f`, 6)).toBe(`a b c\nd e f\n${code}\na b c\nd e f`);
    expect(wrapped("| a | table | row |", 6)).toBe("| a | table | row |");
    expect(wrapped("    indented code", 6)).toBe("    indented code");
    expect(wrapped("x".repeat(20), 6)).toBe("x".repeat(20));
  });

  it("wraps streamed text within the width, independent of how it is split into pieces, and changes only white space", () => {
    const words = fc.array(fc.stringMatching(/^[a-zä-ü一]{1,6}$/), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(words, fc.integer({ min: 12, max: 40 }), fc.array(fc.nat(7)), (all, width, pieces) => {
        const text = all.join(" ");
        const shown = inPieces(text, width, pieces);
        expect(shown).toBe(wrapped(text, width));
        expect(shown.replace(/\s+/g, " ")).toBe(text);
        for (const row of shown.split("\n")) expect(textWidth(row.trimEnd())).toBeLessThanOrEqual(width);
      }),
    );
  });
});
