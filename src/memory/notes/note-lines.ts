/** A text line by line, however its lines end. Byte order marks, which nobody sees, would hide a heading. */
export function linesOf(text: string): readonly string[] {
  return withoutReturns(text)
    .split("\n")
    .map((line) => line.replace(/^\uFEFF+/, ""));
}

export const withoutReturns = (text: string): string => text.replace(/\r\n?/g, "\n");

/** The lines as one text, without blank ones around it. Indentation stays: it can be code. */
export function joinLines(lines: readonly string[]): string {
  const first = lines.findIndex(isWritten);
  return first === -1 ? "" : lines.slice(first, lines.findLastIndex(isWritten) + 1).join("\n");
}

const isWritten = (line: string): boolean => line.trim() !== "";
