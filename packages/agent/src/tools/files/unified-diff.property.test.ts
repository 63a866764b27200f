import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changedRegions, unifiedDiff } from "./unified-diff.ts";

const line = fc.constantFrom("a", "b", "c", "");
const someLines = fc.array(line, { maxLength: 40 });

/** Computes the minimum number of removed and added lines with a slow reference algorithm. */
function fewestDifferences(before: readonly string[], after: readonly string[]): number {
  let row = after.map((_, index) => index + 1);
  row.unshift(0);
  for (const [at, old] of before.entries()) {
    const next = [at + 1];
    for (const [index, fresh] of after.entries()) {
      const best = old === fresh ? row[index] : Math.min(row[index + 1] ?? 0, next[index] ?? 0) + 1;
      next.push(best ?? 0);
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

describe("changes between two texts", () => {
  it("applying the changed regions turns the old text into the new text, with as few changes as possible", () => {
    fc.assert(
      fc.property(someLines, someLines, (before, after) => {
        const made: string[] = [];
        let at = 0;
        let count = 0;
        for (const { oldFrom, oldTo, newFrom, newTo } of changedRegions(before, after)) {
          made.push(...before.slice(at, oldFrom), ...after.slice(newFrom, newTo));
          at = oldTo;
          count += oldTo - oldFrom + newTo - newFrom;
        }
        made.push(...before.slice(at));
        expect(made).toEqual(after);
        expect(count).toBe(fewestDifferences(before, after));
      }),
    );
  });

  it("the added and removed lines of a diff match its counts", () => {
    const ended = someLines.map((lines) => lines.map((each) => `${each}\n`).join(""));
    fc.assert(
      fc.property(ended, ended, (before, after) => {
        const { text, added, removed } = unifiedDiff(before, after);
        const rows = text.split("\n").filter((row) => !row.startsWith("@@"));
        expect(rows.filter((row) => row.startsWith("+"))).toHaveLength(added);
        expect(rows.filter((row) => row.startsWith("-"))).toHaveLength(removed);
        const count = (content: string): number => content.split("\n").length - 1;
        expect(count(before) - removed + added).toBe(count(after));
      }),
    );
  });

  it("compares 60,000 lines quickly, whether all lines differ or only a few distant lines differ", () => {
    const many = (word: string): string[] => Array.from({ length: 60_000 }, (_, index) => `${word} ${index}`);
    expect(changedRegions(many("a"), many("b"))).toEqual([
      { oldFrom: 0, oldTo: 60_000, newFrom: 0, newTo: 60_000 },
    ]);
    const changed = many("a").map((each, index) => (index % 20_000 === 7 ? "x" : each));
    expect(changedRegions(many("a"), changed).map(({ oldFrom }) => oldFrom)).toEqual([7, 20_007, 40_007]);
  });

  it("a diff shows line numbers, context lines and a missing final newline", () => {
    const before = Array.from({ length: 20 }, (_, index) => `${index + 1}\n`).join("");
    const after = before.replace("2\n", "two\n").replace("20\n", "20");
    expect(unifiedDiff(before, after).text.split("\n")).toEqual([
      ...["@@ -1,5 +1,5 @@", " 1", "-2", "+two", " 3", " 4", " 5"],
      ...["@@ -17,4 +17,4 @@", " 17", " 18", " 19", "-20", "+20", "\\ No newline at end of file"],
    ]);
    expect(unifiedDiff("", "a\n").text).toBe("@@ -0,0 +1,1 @@\n+a");
    expect(unifiedDiff("a\n", "a\n")).toEqual({ text: "", added: 0, removed: 0 });
  });

  it("a diff is cut after 400 lines, and each long line of a diff is cut too", () => {
    const rows = unifiedDiff("", "x\n".repeat(1_000)).text.split("\n");
    expect(rows).toHaveLength(401);
    expect(rows.at(-1)).toBe("… 601 more lines of the diff");
    expect(unifiedDiff("", "x\n".repeat(300_000)).text).toContain("… 299601 more lines of the diff");
    expect(unifiedDiff("", `${"y".repeat(5_000)}\n`).text.length).toBeLessThan(400);
  });

  it("a diff shows the changed part of a long line", () => {
    const line = (word: string): string => `${"y".repeat(5_000)}${word}${"z".repeat(5_000)}\n`;
    const { text } = unifiedDiff(line("old"), line("new"));
    expect(text).toMatch(/^@@ .*\n-…y{100}oldz+…\n\+…y{100}newz+…$/);
  });
});
