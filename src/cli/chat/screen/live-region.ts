import { type DrawnRows, leastWidth, type Reflow, rowsAboveCursor } from "./reflow.ts";

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

export interface LiveRegionOptions {
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
