import { textWidth } from "../../view/text-width.ts";
import { charactersOf } from "./styled-text.ts";

/**
 * What a terminal does with rows that are wider than it has become. There is no way to ask.
 * - `cut`: nothing, their ends are out of sight.
 * - `fold`: folds them, and the cursor stays in the text where it was. So do most.
 * - `xterm.js`: folds row by row from the last one up, and moves the cursor down by every row that this adds, also below
 *   it; a row in which the cursor then stands is left out.
 */
export type Reflow = "cut" | "fold" | "xterm.js";

export function reflowOf(environment: NodeJS.ProcessEnv): Reflow {
  const { TERM = "", TMUX, TERM_PROGRAM = "", XTERM_VERSION } = environment;
  if (TMUX) return "fold";
  if (/^(?:vscode|hyper|tabby)$/i.test(TERM_PROGRAM)) return "xterm.js";
  return XTERM_VERSION || /^(?:linux|rxvt|screen|st\b|vt)/.test(TERM) ? "cut" : "fold";
}

export interface DrawnRows {
  /** In columns, when they were drawn. */
  readonly widths: readonly number[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** How far above the cursor the first row now begins. */
export function rowsAboveCursor({ widths, cursor }: DrawnRows, columns: number, reflow: Reflow): number {
  if (reflow === "cut") return cursor.row;
  const added = widths.map((width) => Math.max(0, Math.ceil(width / columns) - 1));
  if (reflow === "xterm.js") {
    return added.reduceRight((at, more, row) => (row === at ? at : at + more), cursor.row);
  }
  const above = added.slice(0, cursor.row).reduce((sum, more) => sum + more, 0);
  return cursor.row + above + Math.floor(cursor.column / columns);
}

const EMOJI = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}/u;

/**
 * The fewest columns that any terminal gives it: they do not agree about emoji. A row counted too wide would take a line
 * with it that was printed for good; one counted too narrow leaves something behind.
 */
export function leastWidth(row: string): number {
  if (!EMOJI.test(row)) return textWidth(row);
  return charactersOf(row.replaceAll(/\p{Cc}\[\d*m/gu, "")).reduce(
    (width, character) => width + (EMOJI.test(character) ? 1 : textWidth(character)),
    0,
  );
}
