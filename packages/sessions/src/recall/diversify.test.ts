import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diversified } from "./diversify.ts";

interface Passage {
  readonly text: string;
  readonly score: number;
}
const textOf = ({ text }: Passage): string => text;
const ranked = fc
  .array(
    fc.record({
      text: fc
        .array(fc.constantFrom("red", "blue", "green", "grün", "青"), { maxLength: 6 })
        .map((all) => all.join(" ")),
      score: fc.integer({ min: 1, max: 9 }),
    }),
    { maxLength: 40 },
  )
  .map((all): readonly Passage[] => all.toSorted((a, b) => b.score - a.score));

describe("diversified", () => {
  it("moves a passage down that repeats a better one", () => {
    const [first, second] = diversified(
      [
        { text: "the red boat is late", score: 3 },
        { text: "The red boat is late!", score: 2.9 },
        { text: "a blue car came early", score: 2 },
      ],
      textOf,
      2,
    ).map(textOf);
    expect([first, second]).toEqual(["the red boat is late", "a blue car came early"]);
  });

  it("keeps every passage once", () => {
    fc.assert(
      fc.property(ranked, fc.nat(50), (passages, needed) => {
        const found = diversified(passages, textOf, needed);
        expect(found).toHaveLength(passages.length);
        expect(new Set(found)).toEqual(new Set(passages));
      }),
    );
  });

  it("the first passages are the same, however many are needed", () => {
    fc.assert(
      fc.property(ranked, fc.nat(50), (passages, needed) => {
        const all = diversified(passages, textOf, passages.length);
        expect(diversified(passages, textOf, needed).slice(0, needed)).toEqual(all.slice(0, needed));
      }),
    );
  });
});
