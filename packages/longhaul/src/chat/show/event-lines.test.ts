import { createColors } from "picocolors";
import { describe, expect, it } from "vitest";
import { textWidth } from "../../view/text-width.ts";
import { callLines, unfoldedBody } from "./event-lines.ts";

const style = (width: number, isColored = false) => ({ width, colors: createColors(isColored) });
const call = { tool: "Read", title: "src/a.ts", isError: false, summary: "120 lines", display: "…" };
const edit = {
  tool: "Edit",
  title: "src/a.ts",
  isError: false,
  summary: "+9 −1",
  display: ["--- a/src/a.ts", "+++ b/src/a.ts", "@@ -1,3 +1,9 @@", " const a = 1;", "-\tconst b = 2;"]
    .concat(Array.from({ length: 9 }, (_, n) => `+  const c${n} = ${n};`))
    .join("\n"),
};

describe("callLines", () => {
  it("shows a tool call in one line with its outcome", () => {
    expect(callLines(call, style(80))).toEqual(["● Read src/a.ts · 120 lines"]);
  });

  it("marks a failed tool call, and shows the first line of its error if the call has no summary", () => {
    const failed = {
      ...call,
      isError: true,
      summary: undefined,
      display: "\n There is no file.\nLook elsewhere.",
    };
    expect(callLines(failed, style(80))).toEqual(["✗ Read src/a.ts · There is no file."]);
  });

  it("cuts the long title of a tool call, so that its outcome stays visible", () => {
    const [line = ""] = callLines({ ...call, title: "src/".repeat(40) }, style(40));
    expect(line).toMatch(/^● Read ….*src\/src\/ · 120 lines$/);
    expect(textWidth(line)).toBeLessThanOrEqual(40);
    const [command = ""] = callLines({ ...call, title: "cat src/a.ts ".repeat(9) }, style(40));
    expect(command).toMatch(/^● Read cat src\/a\.ts .*… · 120 lines$/);
  });

  it("shows the first changed lines of an edit, and the number of its other changed lines", () => {
    expect(callLines(edit, style(80))).toEqual([
      "● Edit src/a.ts · +9 −1",
      "  -  const b = 2;",
      ...[0, 1, 2, 3, 4].map((n) => `  +  const c${n} = ${n};`),
      "  … 4 more changed lines (Ctrl-O shows all)",
    ]);
    const { green, red } = createColors(true);
    const lines = callLines(edit, style(80, true));
    expect(lines).toContain(red("  -  const b = 2;"));
    expect(lines).toContain(green("  +  const c0 = 0;"));
  });

  it("does not treat an unchanged line of a diff as a removed line if the line begins with a date", () => {
    const display = "@@ -1,2 +1,3 @@\n 2026-03-30 note\n+2026-03-31 note\n 12 - 3";
    expect(callLines({ ...edit, display }, style(80)).slice(1)).toEqual(["  +2026-03-31 note"]);
  });

  it("shows the changed lines of a diff even if their text begins with dashes or pluses", () => {
    const display = "@@ -1,2 +1,2 @@\n--- drop the table\n+++ counter\n select";
    expect(callLines({ ...edit, display }, style(80)).slice(1)).toEqual([
      "  --- drop the table",
      "  +++ counter",
    ]);
  });

  it("removes control sequences from the output of a tool", () => {
    const wicked = { ...edit, title: "\u001b[2Ja\nb", summary: "\u0007x", display: "+\u001b]0;title\u0007y" };
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(callLines(wicked, style(80)).join("\n")).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});

describe("unfoldedBody", () => {
  it("colors removed and added lines of a diff, but leaves other output unchanged", () => {
    const colors = createColors(true);
    expect(unfoldedBody("@@ -1 +1 @@\n-a\n+b", colors)).toBe(
      `@@ -1 +1 @@\n${colors.red("-a")}\n${colors.green("+b")}`,
    );
    expect(unfoldedBody("- one\n+ two", colors)).toBe("- one\n+ two");
  });
});
