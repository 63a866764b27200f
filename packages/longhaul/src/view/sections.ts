// Our own tables, not a library: cells have colours and need our widths (see text-width.ts), in twenty lines.
import type { Terminal } from "../terminal.ts";
import { fitText, foldText, padEnd, padStart, textWidth } from "./text-width.ts";

/** Columns of a label and the space behind it. */
const LABEL_WIDTH = 12;

/** Sections with a blank line between them; one that has nothing to say is left out. */
export const joined = (sections: readonly string[]): string =>
  sections.filter((section) => section !== "").join("\n\n");

interface Named {
  readonly id: string;
  readonly path: string;
}

/** A word for what is shown, and its name. */
export const titleLine = (word: string, name: string, { colours, width }: Terminal): string =>
  `${colours.bold(word)} ${fitText(name, width - word.length - 1)}`;

/** With the path below it. */
export const sessionTitle = (word: string, { id, path }: Named, terminal: Terminal): string =>
  `${titleLine(word, id, terminal)}\n${terminal.colours.dim(fitText(path, terminal.width, "front"))}`;

/** With a few facts below it. */
export const factsTitle = (word: string, name: string, facts: string, terminal: Terminal): string =>
  `${titleLine(word, name, terminal)}\n${terminal.colours.dim(foldText(facts, terminal.width))}`;

/** A text behind a label; what follows its first line stands under it. */
export function labelled(label: string, text: string, { colours, width }: Terminal): string {
  const lead = `${label === "" ? "" : colours.bold(label)}${" ".repeat(LABEL_WIDTH - label.length)}`;
  return foldText(`${lead}${text}`, width, " ".repeat(LABEL_WIDTH));
}

export const indented = (text: string, { width }: Pick<Terminal, "width">): string =>
  foldText(`  ${text}`, width, "  ");

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
