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
        .array(fc.constantFrom("red", "blue", "green", "small", "青"), { maxLength: 6 })
        .map((all) => all.join(" ")),
      score: fc.integer({ min: 1, max: 9 }),
    }),
    { maxLength: 40 },
  )
  .map((all): readonly Passage[] => all.toSorted((a, b) => b.score - a.score));

/** Plain form of the same rule: after each choice, lowers the scores of all others. */
function comparedWithAll(passages: readonly Passage[]): readonly Passage[] {
  const words = ({ text }: Passage): Set<string> => new Set(text.split(" ").filter((word) => word !== ""));
  const left = passages.map((passage) => ({ passage, score: passage.score }));
  const chosen: Passage[] = [];
  while (left.length > 0) {
    const best = left.reduce((one, other) => (other.score > one.score ? other : one));
    left.splice(left.indexOf(best), 1);
    chosen.push(best.passage);
    for (const other of left) {
      const [a, b] = [words(best.passage), words(other.passage)];
      const common = [...a].filter((word) => b.has(word)).length;
      const excess = Math.max(0, common / Math.max(1, (a.size + b.size) / 2) - 0.5) / 0.5;
      other.score = Math.min(other.score, other.passage.score * (1 - 0.7 * excess));
    }
  }
  return chosen;
}

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

  it("compares each passage with all that were chosen before it", () => {
    fc.assert(
      fc.property(ranked, (passages) => {
        const compared = passages.slice(0, 24);
        expect(diversified(compared, textOf, compared.length)).toEqual(comparedWithAll(compared));
      }),
    );
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
