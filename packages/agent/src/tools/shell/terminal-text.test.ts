import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TerminalText } from "./terminal-text.ts";

function read(pieces: readonly string[]): string {
  const terminal = new TerminalText();
  return pieces.map((piece) => terminal.add(piece)).join("") + terminal.flush();
}

describe("TerminalText", () => {
  it.each([
    ["keeps plain text unchanged", "a\tb\nc", "a\tb\nc"],
    ["removes colors", "\u001b[1;31mred\u001b[0m \u001b[38;5;9mx\u001b[K\n", "red x\n"],
    [
      "removes titles and links, and keeps the linked text",
      "\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b",
      "ab",
    ],
    ["removes cursor moves and character sets", "\u001b[2J\u001b[1Aa\u001b(Bb\u001b7c\u009b5md", "abcd"],
    ["keeps the last state of an overwritten line", "10%\r50%\r100%\ndone\n", "100%\ndone\n"],
    ["treats a carriage return before a newline as part of it", "a\r\nb\r\r\n", "a\nb\n"],
    ["keeps a line whose carriage return nothing follows", "a\r", "a"],
    ["removes a character at a backspace", "|\b/\b-\bok\n", "ok\n"],
    ["removes other control characters", "a\u0000b\u0007c\u007fd\u000be", "abcde"],
    ["treats a sequence that never ends as text", `\u001b]${"x".repeat(5_000)}`, `]${"x".repeat(5_000)}`],
  ])("TerminalText %s", (_, printed, expected) => {
    expect(read([printed])).toBe(expected);
    expect(read([...printed])).toBe(expected);
  });

  it("holds back only the last line of terminal output, because that line can still be overwritten", () => {
    const terminal = new TerminalText();
    expect(terminal.add("a\nb")).toBe("a\n");
    expect(terminal.line).toBe("b");
    expect(terminal.add("x".repeat(100_000)).length).toBeGreaterThan(80_000);
    expect(terminal.line.length).toBeLessThan(20_000);
    expect(terminal.add("\rnew\n")).toBe("new\n");
  });

  const printed = fc.array(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 5 }),
      fc.constantFrom(
        ...["\r", "\n", "\r\n", "\b", "\u001b[31m", "\u001b", "[", "\u001b]0;", "\u0007", "\u001b\\", "m"],
      ),
      fc.constantFrom("x".repeat(16_384), "y".repeat(40_000), `\u001b]${"z".repeat(4_001)}`),
    ),
    { maxLength: 12 },
  );

  it("converts terminal output the same way however it is split, and leaves no control characters", () => {
    fc.assert(
      fc.property(printed, fc.array(fc.nat(50_000), { maxLength: 8 }), (parts, cuts) => {
        const text = parts.join("");
        const at = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
        const pieces = at.slice(1).map((end, nth) => text.slice(at[nth], end));
        const whole = read([text]);
        expect(read(pieces)).toBe(whole);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: there must be none
        expect(whole).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      }),
    );
  });

  it("keeps all terminal text when nothing is overwritten", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom(..."ab \n\té漢") })), (pieces) => {
        expect(read(pieces)).toBe(pieces.join(""));
      }),
    );
  });
});
