import { createColors } from "picocolors";
import { describe, expect, it } from "vitest";
import { readingOf } from "../../../../test/support/fake-chat.ts";
import { textWidth } from "../view/text-width.ts";
import { type Status, statusLine } from "./status-line.ts";

const plain = createColors(false);
const colored = createColors(true);

const STATUS: Status = {
  reading: readingOf(70_000),
  model: "claude-sonnet-5-5",
  dollars: 0.1234,
  isPlanMode: true,
  permissionMode: "default",
  queued: 2,
  agents: 1,
};

describe("statusLine", () => {
  it("shows all important parts of the status line in 80 columns", () => {
    expect(statusLine(STATUS, 80, plain)).toBe(
      "████░░░░░░ 42% · 70K of 167K · $0.1234 · plan mode · 2 queued · 1 agent",
    );
    expect(statusLine({ ...STATUS, isPlanMode: false, queued: 0, agents: 0 }, 80, plain)).toBe(
      "████░░░░░░ 42% · 70K of 167K · claude-sonnet-5-5 · $0.1234",
    );
  });

  it("shows the permission mode in the status line if the mode asks less often than the default mode", () => {
    const status: Status = {
      ...STATUS,
      isPlanMode: false,
      queued: 0,
      agents: 0,
      permissionMode: "accept-edits",
    };
    expect(statusLine(status, 80, plain)).toContain(" · accept-edits");
  });

  it("omits the least important parts of the status line on a narrow terminal", () => {
    expect(statusLine(STATUS, 60, plain)).toBe("████░░░░░░ 42% · plan mode · 2 queued · 1 agent");
    expect(statusLine(STATUS, 40, plain)).toBe("████░░░░░░ 42% · plan mode · 2 queued");
  });

  it.each([80, 60, 40, 20, 8])("keeps the status line within %i columns", (width) => {
    expect(textWidth(statusLine(STATUS, width, plain))).toBeLessThanOrEqual(width);
  });

  it("colors the window gauge green, then yellow from the warning threshold and red from the auto-compact threshold", () => {
    const { warning, autoCompact } = readingOf(0).thresholds;
    const at = (tokens: number): string => statusLine({ ...STATUS, reading: readingOf(tokens) }, 80, colored);
    expect(at(warning - 1)).toContain(colored.green("█████████░ 88%"));
    expect(at(warning)).toContain(colored.yellow("█████████░ 88%"));
    expect(at(autoCompact - 1)).toContain(colored.yellow("██████████ 100%"));
    expect(at(autoCompact)).toContain(colored.red("██████████ 100%"));
  });
});
