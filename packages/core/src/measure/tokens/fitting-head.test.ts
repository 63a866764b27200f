import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { headThatFits } from "./fitting-head.ts";

const texts = (): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom("🙂", "a", "名", "\n", "word "), { maxLength: 400 })
    .map((parts) => parts.join(""));

describe("headThatFits", () => {
  it("headThatFits returns the beginning of a text that fits, without splitting a character", () => {
    fc.assert(
      fc.property(texts(), fc.nat(300), (text, budget) => {
        const head = headThatFits(text, budget, ({ length }) => length <= budget);
        expect(text.startsWith(head)).toBe(true);
        expect(head.length).toBeLessThanOrEqual(budget);
        expect(head).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });

  it("cuts a text at a line break unless that loses over half of the beginning that fits", () => {
    expect(headThatFits("x".repeat(1_000), 300, ({ length }) => length <= 300)).toHaveLength(300);
    expect(headThatFits("line\n".repeat(100), 99, ({ length }) => length <= 99)).toBe("line\n".repeat(19));
    expect(headThatFits(`a\n${"x".repeat(500)}`, 100, ({ length }) => length <= 100)).toHaveLength(100);
  });

  it("the beginning that headThatFits returns always fits, even if token counts are irregular", () => {
    fc.assert(
      fc.property(texts(), fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }), (text, verdicts) => {
        const fits = (head: string): boolean => verdicts[head.length % 7] === true;
        const head = headThatFits(text, 1_000, fits);
        expect(head === "" || fits(head)).toBe(true);
      }),
    );
  });
});
