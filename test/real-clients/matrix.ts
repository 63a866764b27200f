/** One cell of the matrix, with its comparisons and faults. */
export interface CellResult {
  readonly row: string;
  readonly column: string;
  readonly messages: number;
  readonly pairs: number;
  readonly markers: number;
  readonly faults: readonly string[];
  /** Notes that are printed but are no failure, such as requests that a real account would refuse. */
  readonly notes?: readonly string[];
}

/** Returns true for a cell with a fault, and for a cell that compared nothing. */
export function isRed({ messages, pairs, markers, faults }: CellResult): boolean {
  return faults.length > 0 || messages + pairs + markers === 0;
}

const SHOWN_FAULTS = 6;

/** Prints a table of rows and columns, then the faults and notes of each cell. */
export function matrixText(cells: readonly CellResult[]): string {
  const columns = [...new Set(cells.map(({ column }) => column))];
  const rows = [...new Set(cells.map(({ row }) => row))];
  const find = (row: string, column: string): CellResult | undefined =>
    cells.find((cell) => cell.row === row && cell.column === column);
  const body = rows.map((row) => [row, ...columns.map((column) => cellText(find(row, column)))]);
  const table = [["messages/pairs/markers", ...columns], ...body];
  const widths = table[0]?.map((_, at) => Math.max(...table.map((line) => line[at]?.length ?? 0))) ?? [];
  const lines = table.map((line) =>
    line
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [...lines, ...cells.flatMap(detailLines)].join("\n");
}

function cellText(cell: CellResult | undefined): string {
  if (cell === undefined) return "-";
  return `${isRed(cell) ? "RED" : "ok "} ${cell.messages}/${cell.pairs}/${cell.markers}`;
}

function detailLines(cell: CellResult): readonly string[] {
  const { row, column, faults, notes = [] } = cell;
  const isEmpty = isRed(cell) && faults.length === 0;
  const shown = [...faults.slice(0, SHOWN_FAULTS), ...(isEmpty ? ["nothing was compared"] : [])];
  const rest = faults.length > SHOWN_FAULTS ? [`and ${faults.length - SHOWN_FAULTS} more`] : [];
  const lines = [...shown, ...rest].map((fault) => `    ${fault}`);
  const noted = notes.map((note) => `    note: ${note}`);
  return lines.length + noted.length === 0 ? [] : ["", `${row}, ${column}:`, ...lines, ...noted];
}
