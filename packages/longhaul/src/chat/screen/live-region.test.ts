import { describe, expect, it } from "vitest";
import { leastWidth, reflowOf, rowsAboveCursor } from "./live-region.ts";

describe("resize to a narrower terminal", () => {
  const drawn = { widths: [30, 5, 25, 30], cursor: { row: 2, column: 24 } };

  it("adds the rows that a folding terminal inserts above the cursor", () => {
    expect(rowsAboveCursor(drawn, 40, "fold")).toBe(2);
    expect(rowsAboveCursor(drawn, 20, "fold")).toBe(2 + 1 + 1);
    expect(rowsAboveCursor({ ...drawn, cursor: { row: 2, column: 3 } }, 20, "fold")).toBe(2 + 1);
    expect(rowsAboveCursor(drawn, 10, "fold")).toBe(2 + 2 + 2);
  });

  it("adds no rows above the cursor on a terminal that cuts its rows", () => {
    expect(rowsAboveCursor(drawn, 10, "cut")).toBe(2);
  });

  it("detects from the environment whether a terminal folds or cuts rows", () => {
    expect(reflowOf({ TERM: "xterm-256color" })).toBe("fold");
    expect(reflowOf({ TERM: "screen-256color", TMUX: "/tmp/tmux" })).toBe("fold");
    expect(reflowOf({ TERM: "screen" })).toBe("cut");
    expect(reflowOf({ TERM: "xterm", XTERM_VERSION: "XTerm(380)" })).toBe("cut");
    expect(reflowOf({ TERM: "xterm-256color", TERM_PROGRAM: "vscode" })).toBe("xterm.js");
  });

  it("counts an emoji with its least width on any terminal", () => {
    expect(leastWidth("\u001b[31ma日👩\u200d👩\u200d👧🇩🇪\u001b[0m")).toBe(1 + 2 + 1 + 1);
  });
});
