import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ESSENTIAL, fitSections, type SectionDraft } from "./budget.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 4);
const draft = (heading: string, forms: readonly (readonly string[])[], importance = 100): SectionDraft => ({
  heading,
  pieces: forms.map((list) => ({ forms: list, importance })),
  share: 0.5,
  whenEmpty: "None.",
  alreadyLeftOut: 0,
  leftOut: (count) => `(${count} more)`,
});

describe("fitSections", () => {
  it("writes every piece of a summary section at full length when the budget allows it", () => {
    const fitted = fitSections([draft("# A", [["long one", "l"]]), draft("# B", [])], 1_000, countTokens);
    expect(fitted).toMatchObject({ text: "# A\nlong one\n\n# B\nNone.", leftOutPieces: 0 });
  });

  it("never exceeds the token budget, whatever pieces the summary sections have", () => {
    const piece = fc.record({
      forms: fc.array(fc.string({ maxLength: 300 }), { minLength: 1, maxLength: 3 }),
      importance: fc.integer({ min: 0, max: 1_200 }),
      group: fc.option(fc.constantFrom("**x:**", "**y:**"), { nil: undefined }),
    });
    const section = fc.array(piece, { maxLength: 12 }).map((pieces) => ({ ...draft("# H", []), pieces }));
    fc.assert(
      fc.property(
        fc.array(section, { minLength: 1, maxLength: 9 }),
        fc.integer({ min: 60, max: 600 }),
        (drafts, budget) => {
          const { text } = fitSections(drafts, budget, countTokens);
          expect(countTokens(text)).toBeLessThanOrEqual(budget);
          expect(text.match(/^# H$/gm)?.length).toBeGreaterThanOrEqual(drafts.length);
        },
      ),
    );
  });

  it("counts the tokens of the whole summary, which can exceed the sum of its parts", () => {
    const opening = "Opening\n";
    const dearer = (text: string): number => countTokens(text) + (text.startsWith(opening) ? 15 : 0);
    const forms = Array.from({ length: 20 }, () => ["y".repeat(40)]);
    const fitted = fitSections([draft("# A", forms)], 100, dearer, opening);
    expect(fitted.text.startsWith(`${opening}# A\n`)).toBe(true);
    expect(fitted.tokens).toBe(dearer(fitted.text));
    expect(fitted.tokens).toBeLessThanOrEqual(100);
  });

  it("never counts a whole long piece of a summary, and calls the counter only once if everything fits", () => {
    const counted: string[] = [];
    const counting = (text: string): number => {
      counted.push(text);
      return countTokens(text);
    };
    const paste = "z".repeat(90_000);
    const drafts = [
      draft("# A", [
        ["in full", "short"],
        [paste, "first lines"],
      ]),
    ];
    fitSections(drafts, 60, counting);
    expect(counted).not.toContain(paste);
    counted.length = 0;
    fitSections([draft("# A", [["in full", "short"]])], 60, counting);
    expect(counted).toEqual(["# A\nin full"]);
  });

  it("stays within the budget even when samples of a long piece suggest too few tokens", () => {
    const dense = (text: string): number =>
      Math.ceil(text.replace(/z/g, "").length / 4) + text.split("z").length - 1;
    const uneven = fc
      .tuple(
        fc.integer({ min: 0, max: 600 }),
        fc.integer({ min: 0, max: 2_000 }),
        fc.integer({ min: 0, max: 600 }),
      )
      .map(([before, middle, after]) => [
        "a".repeat(before) + "z".repeat(middle) + "a".repeat(after),
        "short",
      ]);
    fc.assert(
      fc.property(
        fc.array(uneven, { maxLength: 8 }),
        fc.integer({ min: 60, max: 4_000 }),
        (forms, budget) => {
          const { text, tokens } = fitSections([draft("# A", forms)], budget, dense);
          expect(tokens).toBe(dense(text));
          expect(tokens).toBeLessThanOrEqual(budget);
        },
      ),
    );
  });

  it("writes the short form of a long piece that has more tokens than its samples suggest", () => {
    const dense = (text: string): number => text.split("z").length - 1 + Math.ceil(text.length / 4);
    const misleading = `${"a".repeat(120)}${"z".repeat(1_800)}${"a".repeat(4_080)}`;
    const fitted = fitSections([draft("# A", [[misleading, "in short"], ["another"]])], 1_600, dense);
    expect(fitted.text).toBe("# A\nin short\nanother");
  });

  it("shortens pieces of a summary section before it leaves any piece out", () => {
    const long = "x".repeat(400);
    const fitted = fitSections(
      [
        draft("# A", [
          [long, "short 1"],
          [long, "short 2"],
          [long, "short 3"],
        ]),
      ],
      140,
      countTokens,
    );
    expect(fitted.leftOutPieces).toBe(0);
    expect(fitted.text).toContain("short 1");
  });

  it("states how many pieces of a summary section it left out", () => {
    const forms = Array.from({ length: 20 }, () => ["y".repeat(100)]);
    const fitted = fitSections([draft("# A", forms)], 80, countTokens);
    expect(fitted.leftOutPieces).toBeGreaterThan(0);
    expect(fitted.text).toContain(`(${fitted.leftOutPieces} more)`);
  });

  it("repeats how many pieces earlier summaries left out of a section", () => {
    const fitted = fitSections([{ ...draft("# A", [["text"]]), alreadyLeftOut: 3 }], 100, countTokens);
    expect(fitted.text).toBe("# A\ntext\n(3 more)");
  });

  it("keeps an essential piece of a summary before all other pieces", () => {
    const others = draft(
      "# A",
      Array.from({ length: 30 }, (_, index) => [`other ${index}`.padEnd(60)]),
      900,
    );
    const essential = draft("# B", [["the essential piece".padEnd(120)]], ESSENTIAL);
    expect(fitSections([others, essential], 70, countTokens).text).toContain("the essential piece");
  });

  it("writes the label of a group of pieces once, above these pieces", () => {
    const pieces = ["a", "b"].map((text) => ({ forms: [text], importance: 1, group: "**G:**" }));
    expect(fitSections([{ ...draft("# A", []), pieces }], 100, countTokens).text).toBe("# A\n**G:**\na\nb");
  });

  it("keeps only the section headings when the budget allows nothing else", () => {
    expect(fitSections([draft("# A", [["text"]]), draft("# B", [])], 1, countTokens).text).toBe("# A\n# B");
  });
});
