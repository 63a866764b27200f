import { describe, expect, it } from "vitest";
import { leastWidth, reflowOf, rowsAboveCursor } from "./live-region.ts";

describe("rows above the cursor after a resize to a narrower terminal", () => {
  const drawn = { widths: [30, 5, 25, 30], cursor: { row: 2, column: 24 } };

  it("counts the rows that a wrapping terminal adds above the cursor when the terminal becomes narrower", () => {
    expect(rowsAboveCursor(drawn, 40, "fold")).toBe(2);
    expect(rowsAboveCursor(drawn, 20, "fold")).toBe(2 + 1 + 1);
    expect(rowsAboveCursor({ ...drawn, cursor: { row: 2, column: 3 } }, 20, "fold")).toBe(2 + 1);
    expect(rowsAboveCursor(drawn, 10, "fold")).toBe(2 + 2 + 2);
  });

  it("counts no added rows above the cursor on a terminal that cuts long rows", () => {
    expect(rowsAboveCursor(drawn, 10, "cut")).toBe(2);
  });

  it("detects from environment variables whether a terminal wraps or cuts long rows", () => {
    expect(reflowOf({ TERM: "xterm-256color" })).toBe("fold");
    expect(reflowOf({ TERM: "screen-256color", TMUX: "/tmp/tmux" })).toBe("fold");
    expect(reflowOf({ TERM: "screen" })).toBe("cut");
    expect(reflowOf({ TERM: "xterm", XTERM_VERSION: "XTerm(380)" })).toBe("cut");
    expect(reflowOf({ TERM: "xterm-256color", TERM_PROGRAM: "vscode" })).toBe("xterm.js");
  });

  it("leastWidth counts an emoji with the smallest width that any terminal uses", () => {
    expect(leastWidth("\u001b[31ma日👩\u200d👩\u200d👧🇩🇪\u001b[0m")).toBe(1 + 2 + 1 + 1);
  });
});
