import type { Terminal } from "../terminal.ts";
import { type Column, table } from "./table.ts";
import { foldText, textWidth } from "./text-width.ts";

/** Nothing where there are no rows. */
export function titled(
  title: string,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  terminal: Terminal,
): string {
  if (rows.length === 0) return "";
  const body = table(columns, rows, terminal.colours.dim, textWidth);
  return [
    foldText(terminal.colours.bold(title), terminal.width, "  "),
    ...body.split("\n").map((line) => `  ${line}`),
  ].join("\n");
}
