import xterm, { type IBufferCell, type Terminal } from "@xterm/headless";

/** A terminal screen without a window, with the rows that a person would see. */
export interface ScreenBuffer {
  readonly terminal: Terminal;
  /** Resolves when the data has been drawn. */
  write(data: string): Promise<void>;
  /** Returns the visible rows without trailing blanks. */
  rows(): readonly string[];
  /** Returns all lines since the start. A wrapped line counts as one. */
  lines(): readonly string[];
  /** Returns the name of the foreground color. `default` if none was set. */
  colorAt(row: number, column: number): string;
  /** Returns the distinct colors of the first visible row with this text. */
  rowColors(text: string): readonly string[];
  /** Returns the position of the cursor. Row 0 and column 0 are at the top left of the visible part. */
  cursor(): { readonly row: number; readonly column: number };
}

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** Bright colors have the names of their dark variants. */
function colorOf(cell: IBufferCell | undefined): string {
  if (cell === undefined || cell.isFgDefault()) return "default";
  return cell.isFgPalette() ? (NAMES[cell.getFgColor() % 8] ?? "other") : "other";
}

/** Number of lines that the terminal keeps. It is more than any test prints, so that nothing is lost. */
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
    colorAt: (y, x) => colorOf(cellAt(y, x)),
    rowColors: (text) => {
      const y = visible().findIndex((line) => line.includes(text));
      const shown = Array.from({ length: terminal.cols }, (_, x) => cellAt(y, x)).filter(
        (cell) => cell !== undefined && cell.getChars().trim() !== "",
      );
      return [...new Set(shown.map(colorOf))];
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
