import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitSection, foreignItem, ownItem, readBody, withClosedFence, writeBody } from "./note-items.ts";
import { allot } from "./update-notes.ts";

const count = (text: string): number => text.length;

describe("readBody and writeBody for the text of a notes section", () => {
  it("readBody returns the items and the count of left-out items that writeBody wrote", () => {
    const line = fc.constantFrom(
      "- a",
      "* b",
      "1. c",
      "text",
      "  more",
      "",
      "```",
      "~~~",
      "(3 older items left out: see the transcript)",
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const { items, leftOut } = readBody(lines.join("\n"));
        const again = readBody(writeBody(items.map(withClosedFence), leftOut));
        expect(again).toEqual({ items: items.map(withClosedFence), leftOut });
      }),
    );
  });

  it("readBody reads the count of left-out items in the wording of an earlier version", () => {
    expect(readBody("(4 older items left out; see the transcript)\n- a")).toEqual({
      items: ["- a"],
      leftOut: 4,
    });
  });

  it("writeBody uses the singular when exactly one item was left out", () => {
    expect(writeBody([], 1)).toBe("(1 older item left out: see the transcript)");
    expect(readBody(writeBody(["- a"], 1)).leftOut).toBe(1);
  });
});

describe("fitSection", () => {
  const more = (times: number): string => " and more".repeat(times);
  const items = ["one", "two", "six", "ten"].map((name) =>
    ownItem([`- ${name}${more(6)}`, `- ${name}${more(2)}`, `- ${name}`]),
  );

  it("fitSection shortens older items before it drops an item, and keeps the newest item in full", () => {
    expect(fitSection({ items, leftOut: 0 }, 80, count)).toBe(`- one\n- two\n- six\n- ten${more(6)}`);
    expect(fitSection({ items, leftOut: 0 }, 115, count)).toBe(
      `- one\n- two${more(2)}\n- six${more(2)}\n- ten${more(6)}`,
    );
  });

  it("fitSection drops the oldest items first unless they have a higher worth, and counts dropped items", () => {
    const worthy = [ownItem(["- first"], 9), ...items];
    expect(fitSection({ items: worthy, leftOut: 4 }, 60, count)).toBe(
      "(7 older items left out: see the transcript)\n- first\n- ten",
    );
  });

  it("fitSection keeps no item that ranks below a dropped item, even if the lower item would fit", () => {
    const large = ownItem([`- ${"x".repeat(60)}`]);
    const sizes = [ownItem(["- a"]), large, ownItem(["- b"])];
    expect(fitSection({ items: sizes, leftOut: 0 }, 60, count)).toBe(
      "(2 older items left out: see the transcript)\n- b",
    );
  });

  it("fitSection drops text of a person or a model only after all older built-in items", () => {
    const mixed = [ownItem(["- worthy"], 30), foreignItem("- theirs"), ...items];
    const kept = Array.from({ length: 60 }, (_, at) =>
      fitSection({ items: mixed, leftOut: 0 }, 48 + at, count),
    );
    expect(kept.some((body) => body.includes("worthy"))).toBe(true);
    for (const body of kept) if (body.includes("worthy")) expect(body).toContain("theirs");
  });

  it("fitSection keeps all items in their shortest forms when only the shortest forms fit the budget", () => {
    expect(fitSection({ items, leftOut: 0 }, 24, count)).toBe("- one\n- two\n- six\n- ten");
  });

  it("fitSection stays within any budget, even if the tokens of a text exceed the sum of its parts", () => {
    const steep = (text: string): number => Math.ceil(text.length ** 1.4);
    const many = Array.from({ length: 10 }, () => items).flat();
    const least = steep("(39 older items left out: see the transcript)\n- ten");
    for (let budget = 0; budget < 9_000; budget += 11) {
      const body = fitSection({ items: many, leftOut: 0 }, budget, steep);
      expect(steep(body)).toBeLessThanOrEqual(budget);
      if (budget > 2 * least) expect(body).toContain("- ten");
    }
  });
});

describe("allot, which divides the token budget among sections", () => {
  it("allot gives each section what it needs within its share, and divides unused tokens among other sections", () => {
    const needs = [
      { tokens: 10, share: 0.5 },
      { tokens: 100, share: 0.25 },
      { tokens: 100, share: 0.25 },
    ];
    expect(allot(needs, 110)).toEqual([10, 50, 50]);
    expect(allot(needs, 500)).toEqual([10, 100, 100]);
    expect(allot(needs, 0)).toEqual([0, 0, 0]);
  });

  it("allot never gives sections more tokens than the budget, nor a section more than it needs", () => {
    const need = fc.record({ tokens: fc.nat(500), share: fc.constantFrom(0.05, 0.2, 0.4) });
    fc.assert(
      fc.property(fc.array(need, { maxLength: 8 }), fc.nat(2_000), (needs, budget) => {
        const given = allot(needs, budget);
        expect(given.reduce((sum, tokens) => sum + tokens, 0)).toBeLessThanOrEqual(budget);
        for (const [at, tokens] of given.entries())
          expect(tokens).toBeLessThanOrEqual(needs[at]?.tokens ?? 0);
      }),
    );
  });
});
