import { padEnd, padStart } from "./text-width.ts";

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
}

/** Rows under dim titles; every column as wide as its widest cell. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  dim: (text: string) => string,
  measure: (text: string) => number,
): string {
  const widths = columns.map(({ title }, index) =>
    Math.max(measure(title), ...rows.map((row) => measure(row[index] ?? ""))),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align }, index) => {
        const cell = cells[index] ?? "";
        const width = widths[index] ?? 0;
        return align === "right" ? padStart(cell, width) : padEnd(cell, width);
      })
      .join("  ")
      .trimEnd();
  return [dim(line(columns.map(({ title }) => title))), ...rows.map(line)].join("\n");
}
