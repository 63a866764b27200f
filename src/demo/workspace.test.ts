import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { numberedLines, patchBetween, Workspace } from "./workspace.ts";

const workspace = (): Workspace => new Workspace(new Map([["a.ts", "one\ntwo\nthree\ntwo too\n"]]));

describe("the demo's virtual project", () => {
  it("applies an edit to the file that a later read prints", () => {
    const files = workspace();
    files.edit("a.ts", "three", "3");
    expect(files.text("a.ts")).toBe("one\ntwo\n3\ntwo too\n");
    expect(files.touchedPaths).toEqual(["a.ts"]);
  });

  it.each(["two", "four"])("refuses an edit that does not match exactly one place (%s)", (oldText) => {
    expect(() => workspace().edit("a.ts", oldText, "x")).toThrow(RangeError);
  });

  it("hands out snapshots that later writes do not change", () => {
    const files = workspace();
    const before = files.snapshot();
    files.write("a.ts", "");
    expect(before.get("a.ts")).toContain("three");
  });

  it("finds lines with their numbers", () => {
    expect(workspace().search("two")).toEqual(["a.ts:2:two", "a.ts:4:two too"]);
  });

  it("numbers lines with a tab, from the line asked for", () => {
    expect(numberedLines("x\ny", 9)).toBe("9\tx\n10\ty");
  });

  it("describes a change by a hunk that turns the old text into the new one", () => {
    const line = fc.constantFrom("a", "b", "c", "");
    const text = fc.array(line, { maxLength: 14 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(applyPatch(before, after)).toBe(after);
      }),
    );
  });
});

function applyPatch(before: string, after: string): string {
  const lines = before.split("\n");
  for (const hunk of patchBetween(before, after)) {
    const pick = (mark: string): string[] =>
      hunk.lines.filter((line) => line.startsWith(" ") || line.startsWith(mark)).map((line) => line.slice(1));
    expect(lines.slice(hunk.oldStart - 1, hunk.oldStart - 1 + hunk.oldLines)).toEqual(pick("-"));
    expect(pick("+")).toHaveLength(hunk.newLines);
    lines.splice(hunk.oldStart - 1, hunk.oldLines, ...pick("+"));
  }
  return lines.join("\n");
}
