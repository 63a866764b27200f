import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TerminalText } from "./terminal-text.ts";

function read(pieces: readonly string[]): string {
  const terminal = new TerminalText();
  return pieces.map((piece) => terminal.add(piece)).join("") + terminal.flush();
}

describe("what a command prints on a terminal", () => {
  it.each([
    ["plain text is as it is", "a\tb\nc", "a\tb\nc"],
    ["colors go", "\u001b[1;31mred\u001b[0m \u001b[38;5;9mx\u001b[K\n", "red x\n"],
    [
      "titles and links go, what they are laid over stays",
      "\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b",
      "ab",
    ],
    ["cursor moves and character sets go", "\u001b[2J\u001b[1Aa\u001b(Bb\u001b7c\u009b5md", "abcd"],
    ["of a line that is written over, the last state stays", "10%\r50%\r100%\ndone\n", "100%\ndone\n"],
    ["a carriage return before a line end is part of it", "a\r\nb\r\r\n", "a\nb\n"],
    ["a last state that nothing is written over stays", "a\r", "a"],
    ["a backspace takes a character back", "|\b/\b-\bok\n", "ok\n"],
    ["other control characters go", "a\u0000b\u0007c\u007fd\u000be", "abcde"],
    [
      "a sequence that never ends is text after a while",
      `\u001b]${"x".repeat(5_000)}`,
      `]${"x".repeat(5_000)}`,
    ],
  ])("%s", (_, printed, expected) => {
    expect(read([printed])).toBe(expected);
    expect(read([...printed])).toBe(expected);
  });

  it("is held back only as far as a line may still be voided", () => {
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

  it("is the same in whatever pieces it comes, and has no controls left", () => {
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

  it("loses nothing where nothing is written over", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom(..."ab \n\té漢") })), (pieces) => {
        expect(read(pieces)).toBe(pieces.join(""));
      }),
    );
  });
});
