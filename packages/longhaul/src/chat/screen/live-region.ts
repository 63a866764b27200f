import { textWidth } from "../../view/text-width.ts";
import { charactersOf } from "./styled-text.ts";

export interface Frame {
  /** Safe lines, none wider than the terminal and no more of them than it is high. */
  readonly rows: readonly string[];
  /** Where a person writes: the row, and what stands in it before the cursor. */
  readonly cursor: { readonly row: number; readonly before: string };
}

/**
 * The lines at the bottom that are drawn anew, below everything that is over. It only ever goes up to its own first row, and
 * never empties the screen or the scrollback.
 */
export interface LiveRegion {
  /** Takes the live lines away, writes what is over in their place, and the live lines of now below it. */
  draw(over: readonly string[], frame: Frame): void;
  /** Takes the live lines away; the cursor is where they began. */
  erase(over?: readonly string[]): void;
}

interface LiveRegionOptions {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  readonly reflow: Reflow;
}

/** All of it appears at once, in terminals that know this; others ignore it. */
const BEGIN = "\u001b[?2026h\u001b[?25l";
const END = "\u001b[?25h\u001b[?2026l";
/** A row that a terminal counts wider than we do must not fold, or the rows would be more than we know. */
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
 * What a terminal does with rows that are wider than it has become. There is no way to ask.
 * - `cut`: nothing, their ends are out of sight.
 * - `fold`: folds them, and the cursor stays in the text where it was. So do most.
 * - `xterm.js`: folds row by row from the last one up, and moves the cursor down by every row that this adds, also below
 *   it; a row in which the cursor then stands is left out.
 */
type Reflow = "cut" | "fold" | "xterm.js";

export function reflowOf(environment: NodeJS.ProcessEnv): Reflow {
  const { TERM = "", TMUX, TERM_PROGRAM = "", XTERM_VERSION } = environment;
  if (TMUX) return "fold";
  if (/^(?:vscode|hyper|tabby)$/i.test(TERM_PROGRAM)) return "xterm.js";
  return XTERM_VERSION || /^(?:linux|rxvt|screen|st\b|vt)/.test(TERM) ? "cut" : "fold";
}

interface DrawnRows {
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
