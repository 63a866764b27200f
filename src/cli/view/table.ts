import type { Terminal } from "../terminal.ts";
import { foldText, padEnd, padStart, textWidth } from "./text-width.ts";

/** Titles of columns. One that begins with `>` stands above cells that end at the right. */
export type Columns = readonly string[];
type Rows = readonly (readonly string[])[];

/** Rows under dim titles; every column as wide as its widest cell. */
export function table(columns: Columns, rows: Rows, { colours }: Pick<Terminal, "colours">): string {
  const titles = columns.map((column) => column.replace(/^>/, ""));
  const widths = titles.map((title, index) =>
    Math.max(textWidth(title), ...rows.map((row) => textWidth(row[index] ?? ""))),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map((column, index) => {
        const pad = column.startsWith(">") ? padStart : padEnd;
        return pad(cells[index] ?? "", widths[index] ?? 0);
      })
      .join("  ")
      .trimEnd();
  return [colours.dim(line(titles)), ...rows.map(line)].join("\n");
}

/** The table under a title, indented; nothing where there are no rows. */
export function titled(title: string, columns: Columns, rows: Rows, terminal: Terminal): string {
  if (rows.length === 0) return "";
  return [
    foldText(terminal.colours.bold(title), terminal.width, "  "),
    ...table(columns, rows, terminal)
      .split("\n")
      .map((line) => `  ${line}`),
  ].join("\n");
}
