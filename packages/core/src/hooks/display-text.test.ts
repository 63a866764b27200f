import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanOutput, displayName, MAX_OUTPUT_CHARACTERS, outcomeText } from "./display-text.ts";

describe("displayed texts of a hook", () => {
  it("displays the name of a hook as one short line without control characters", () => {
    expect(displayName("\u001b[31mnode\u001b[0m\n\tx.js\u0007")).toBe("node x.js");
    expect(displayName("ls \u202egnp\u061c.exe")).toBe("ls gnp.exe");
    expect(displayName("a".repeat(500))).toBe(`${"a".repeat(59)}…`);
  });

  it("displays no secret keys in the name of a hook", () => {
    expect(displayName("curl -H 'Authorization: Bearer abcdefgh12345678' x")).not.toContain(
      "abcdefgh12345678",
    );
  });

  it("displays the output of a hook as trimmed plain text, cut at 10,000 characters", () => {
    expect(cleanOutput(" \n a\r\nb\rc\t\u001b[1md\u001b[0m\u0000\u0008 \n")).toBe("a\nb\nc\td");
    expect(cleanOutput("x".repeat(10_000))).toBe("x".repeat(10_000));
    expect(cleanOutput("x".repeat(10_001))).toBe(`${"x".repeat(9_999)}…`);
    expect(cleanOutput(`${"x".repeat(9_998)}🙂🙂`)).toBe(`${"x".repeat(9_998)}…`);
  });

  it("displays any output of a hook as well-formed text of at most 10,000 characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), fc.nat(300), (text, times) => {
        const shown = cleanOutput(`${text}\ud800`.repeat(times));
        expect(shown.isWellFormed()).toBe(true);
        expect(shown.length).toBeLessThanOrEqual(MAX_OUTPUT_CHARACTERS);
        expect(shown).toBe(shown.trim());
        expect(shown).not.toMatch(/[^\P{Cc}\n\t]/u);
        expect(displayName(text)).not.toMatch(/\p{Cc}/u);
      }),
    );
  });

  it("outcomeText states how a hook ended", () => {
    expect(outcomeText("PreCompact", "date", "completed", "Friday")).toBe(
      "PreCompact [date] completed: Friday",
    );
    expect(outcomeText("PreCompact", "date", "completed", "")).toBe("PreCompact [date] completed");
    expect(outcomeText("PostCompact", "date", "failed", "why")).toBe("PostCompact [date] failed: why");
    expect(outcomeText("PreCompact", "date", "timed-out", "why")).toBe("PreCompact [date] failed: why");
    expect(outcomeText("PreCompact", "date", "blocked", "why")).toBe(
      "PreCompact [date] blocked the compaction: why",
    );
  });
});
