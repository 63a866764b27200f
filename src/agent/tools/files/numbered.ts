export interface NumberedOptions {
  /** The first line, from 1. */
  readonly from: number;
  readonly maxLines: number;
  readonly maxChars: number;
}

export interface NumberedLines {
  readonly text: string;
  readonly from: number;
  /** The last one shown; less than `from` where there are none. */
  readonly to: number;
  readonly totalLines: number;
  /** Lines of which only the beginning is shown, with their true lengths. */
  readonly cut: readonly { readonly line: number; readonly chars: number }[];
}

/** Longer lines are data or machine-made; their beginning tells what they are. */
export const MAX_LINE_CHARS = 2_000;
const NUMBER_WIDTH = 6;

/** Lines with their numbers, as many as the limits allow, but always one. */
export function numberedLines(text: string, { from, maxLines, maxChars }: NumberedOptions): NumberedLines {
  const shown: string[] = [];
  const cut: { line: number; chars: number }[] = [];
  let line = 0;
  let chars = 0;
  let isFull = false;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const next = end === -1 ? text.length : end + 1;
    line += 1;
    if (line >= from && !isFull && shown.length < maxLines) {
      const whole = text.slice(start, end === -1 ? text.length : end).replace(/\r$/, "");
      const row = `${String(line).padStart(NUMBER_WIDTH)}\t${beginningOf(whole)}`;
      isFull = shown.length > 0 && chars + row.length + 1 > maxChars;
      if (!isFull) {
        shown.push(row);
        chars += row.length + 1;
        if (whole.length > MAX_LINE_CHARS) cut.push({ line, chars: whole.length });
      }
    }
    start = next;
  }
  return { text: shown.join("\n"), from, to: from + shown.length - 1, totalLines: line, cut };
}

/** Half a character at the cut would be no valid text. */
const beginningOf = (line: string): string =>
  line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS).toWellFormed()}…`;
