import { textWidth } from "../../view/text-width.ts";
import { charactersOf } from "./styled-text.ts";

export interface Frame {
  /**
   * Rows to draw. They cannot control the terminal. No row is wider than the terminal, and they all fit into
   * its height.
   */
  readonly rows: readonly string[];
  /** Cursor position: its row, and the text before the cursor in that row. */
  readonly cursor: { readonly row: number; readonly before: string };
}

/**
 * The live lines at the bottom, below all finished output. A redraw moves the cursor up only to the first
 * live line, and never clears the screen or the scrollback.
 */
export interface LiveRegion {
  /** Removes the live lines, writes the finished lines in their place, and draws the new live lines below. */
  draw(over: readonly string[], frame: Frame): void;
  /** Removes the live lines and leaves the cursor at their start. */
  erase(over?: readonly string[]): void;
}

interface LiveRegionOptions {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  readonly reflow: Reflow;
}

/** Makes all output appear at once in terminals that support this sequence. Other terminals ignore it. */
const BEGIN = "\u001b[?2026h\u001b[?25l";
const END = "\u001b[?25h\u001b[?2026l";
/**
 * Switches wrapping off. A terminal may measure a row as wider than we do. If it wrapped that row, our row
 * count would be wrong.
 */
const NO_FOLDING = "\u001b[?7l";
const FOLDING = "\u001b[?7h";
const CLEAR_BELOW = "\u001b[J";

const up = (rows: number): string => (rows > 0 ? `\u001b[${rows}A` : "");

export function createLiveRegion({ write, columns, reflow }: LiveRegionOptions): LiveRegion {
  let drawn: DrawnRows | undefined;
  const erased = (): string => {
    if (drawn === undefined) return "";
    return `\r${up(rowsAboveCursor(drawn, columns(), reflow))}${CLEAR_BELOW}`;
  };
  const asLines = (over: readonly string[]): string => over.map((line) => `${line}\r\n`).join("");
  return {
    draw: (over, { rows, cursor }) => {
      const live = `${NO_FOLDING}${rows.join("\r\n")}${up(rows.length - 1 - cursor.row)}\r${cursor.before}${FOLDING}`;
      write(`${BEGIN}${erased()}${asLines(over)}${live}${END}`);
      drawn = {
        widths: rows.map(leastWidth),
        cursor: { row: cursor.row, column: leastWidth(cursor.before) },
      };
    },
    erase: (over = []) => {
      write(`${erased()}${asLines(over)}`);
      drawn = undefined;
    },
  };
}

/**
 * How a terminal treats rows that are wider than its new width. A program cannot query this.
 * - `cut`: hides their ends.
 * - `fold`: wraps them, and the cursor keeps its place in the text. Most terminals do this.
 * - `xterm.js`: wraps one row after the other, from the last to the first. Each added row moves the cursor
 *   down, even a row that was added below the cursor. A row that then contains the cursor is skipped.
 */
type Reflow = "cut" | "fold" | "xterm.js";

export function reflowOf(environment: NodeJS.ProcessEnv): Reflow {
  const { TERM = "", TMUX, TERM_PROGRAM = "", XTERM_VERSION } = environment;
  if (TMUX) return "fold";
  if (/^(?:vscode|hyper|tabby)$/i.test(TERM_PROGRAM)) return "xterm.js";
  return XTERM_VERSION || /^(?:linux|rxvt|screen|st\b|vt)/.test(TERM) ? "cut" : "fold";
}

interface DrawnRows {
  /** Widths of the rows in columns when they were drawn. */
  readonly widths: readonly number[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** Returns the number of rows from the first row to the cursor after a resize. */
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
 * Returns the smallest width that any terminal uses for the row. Terminals disagree about the width of emoji.
 * If our width is too large, a finished line is erased. If it is too small, only a remnant stays on the
 * screen.
 */
export function leastWidth(row: string): number {
  if (!EMOJI.test(row)) return textWidth(row);
  return charactersOf(row.replaceAll(/\p{Cc}\[\d*m/gu, "")).reduce(
    (width, character) => width + (EMOJI.test(character) ? 1 : textWidth(character)),
    0,
  );
}
