import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatCount, headOf, tailOf, withoutControls } from "./text.ts";

const wellFormed = fc.string({ unit: "grapheme", maxLength: 80 });

describe("headOf and tailOf", () => {
  it("headOf and tailOf cut a text without splitting a character of two UTF-16 units", () => {
    fc.assert(
      fc.property(wellFormed, fc.nat(80), (text, length) => {
        for (const part of [headOf(text, length), tailOf(text, length)]) {
          expect(part.isWellFormed()).toBe(text.isWellFormed());
          expect(part.length).toBeLessThanOrEqual(length);
          expect(part.length).toBeGreaterThanOrEqual(Math.min(text.length, length) - 1);
        }
        expect(text.startsWith(headOf(text, length)) && text.endsWith(tailOf(text, length))).toBe(true);
      }),
    );
    expect(headOf("a😀b", 2)).toBe("a");
    expect(tailOf("a😀b", 2)).toBe("b");
    expect([headOf("abc", 2), tailOf("abc", 2), headOf("abc", -1), tailOf("abc", 0)]).toEqual([
      "ab",
      "bc",
      "",
      "",
    ]);
  });
});

describe("withoutControls", () => {
  it("removes terminal control sequences, and turns a carriage return into a line break", () => {
    const colors = "\u001b[31mred\u001b[0m \u001b]8;;https://x\u001b\\link\u0007 10%\r100%\r\nend";
    expect(withoutControls(colors)).toBe("red link 10%\n100%\nend");
    expect(withoutControls("\u009b1mbold\u001bM \u0085 \u007f\tx")).toBe("bold  \tx");
  });

  it("removes all control characters from any text, and changes no text without them", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const plain = withoutControls(text);
        expect(plain).not.toMatch(/[^\P{Cc}\n\t]/u);
        expect(withoutControls(plain)).toBe(plain);
        if (!/[^\P{Cc}\n\t]/u.test(text)) expect(plain).toBe(text);
      }),
    );
  });
});

describe("formatCount", () => {
  it("formats a count with American separators", () => {
    fc.assert(
      fc.property(fc.integer(), (count) => {
        expect(formatCount(count)).toBe(count.toLocaleString("en-US"));
      }),
    );
    expect([0, 999, 1_000, 34_725.6, -1_234_567].map(formatCount)).toEqual([
      "0",
      "999",
      "1,000",
      "34,726",
      "-1,234,567",
    ]);
  });
});
