import xterm, { type IBufferCell, type Terminal } from "@xterm/headless";

/** A terminal's screen without a window: what a person would see. */
export interface ScreenBuffer {
  readonly terminal: Terminal;
  /** Resolves when it has been drawn. */
  write(data: string): Promise<void>;
  /** The visible rows, without the blanks at their ends. */
  rows(): readonly string[];
  /** Everything since the beginning; a line that the terminal folded is one line. */
  lines(): readonly string[];
  /** Of the foreground, by its name; `default` where none was set. */
  colourAt(row: number, column: number): string;
  /** Each colour once, of the first visible row with this text. */
  rowColours(text: string): readonly string[];
  /** From the top left of the visible part, from 0. */
  cursor(): { readonly row: number; readonly column: number };
}

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** Bright ones are named as their dark brothers. */
function colourOf(cell: IBufferCell | undefined): string {
  if (cell === undefined || cell.isFgDefault()) return "default";
  return cell.isFgPalette() ? (NAMES[cell.getFgColor() % 8] ?? "other") : "other";
}

/** More than any test prints, so that nothing is lost. */
const SCROLLBACK_LINES = 100_000;

export function openScreenBuffer(cols: number, rows: number): ScreenBuffer {
  const terminal = new xterm.Terminal({ cols, rows, scrollback: SCROLLBACK_LINES, allowProposedApi: true });
  const row = (y: number): string => terminal.buffer.active.getLine(y)?.translateToString(true) ?? "";
  const top = (): number => terminal.buffer.active.baseY;
  const visible = (): readonly string[] =>
    Array.from({ length: terminal.rows }, (_, y) => row(top() + y).trimEnd());
  const cellAt = (y: number, x: number): IBufferCell | undefined =>
    terminal.buffer.active.getLine(top() + y)?.getCell(x);
  return {
    terminal,
    write: (data) => new Promise((resolve) => terminal.write(data, resolve)),
    rows: visible,
    lines: () => allLines(terminal),
    colourAt: (y, x) => colourOf(cellAt(y, x)),
    rowColours: (text) => {
      const y = visible().findIndex((line) => line.includes(text));
      const shown = Array.from({ length: terminal.cols }, (_, x) => cellAt(y, x)).filter(
        (cell) => cell !== undefined && cell.getChars().trim() !== "",
      );
      return [...new Set(shown.map(colourOf))];
    },
    cursor: () => ({ row: terminal.buffer.active.cursorY, column: terminal.buffer.active.cursorX }),
  };
}

function allLines(terminal: Terminal): readonly string[] {
  const lines: string[] = [];
  for (let y = 0; y < terminal.buffer.active.length; y += 1) {
    const line = terminal.buffer.active.getLine(y);
    const isGoingOn = terminal.buffer.active.getLine(y + 1)?.isWrapped === true;
    const text = line?.translateToString(!isGoingOn) ?? "";
    if (line?.isWrapped) lines.push((lines.pop() ?? "") + text);
    else lines.push(text);
  }
  return lines.map((line) => line.trimEnd());
}
