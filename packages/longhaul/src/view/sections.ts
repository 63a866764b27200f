// This file draws tables without a library, because cells have colors and we measure widths ourselves (see
// text-width.ts).
import type { Terminal } from "../terminal.ts";
import { type Cut, fitText, foldText, oneLine, padEnd, padStart, textWidth } from "./text-width.ts";

/** Width of a label and the space after it. */
const LABEL_WIDTH = 12;

/** Joins sections with a blank line. Omits empty ones. */
export const joined = (sections: readonly string[]): string =>
  sections.filter((section) => section !== "").join("\n\n");

interface Named {
  readonly id: string;
  readonly path: string;
}

/** Shows a title. It consists of a word for the content, such as `Session`, and the name of the content. */
export const titleLine = (word: string, name: string, { colors, width }: Terminal): string =>
  `${colors.bold(word)} ${fitText(name, width - word.length - 1)}`;

/** Shows a title with the path below it. */
export const sessionTitle = (word: string, { id, path }: Named, terminal: Terminal): string =>
  `${titleLine(word, id, terminal)}\n${terminal.colors.dim(fitText(path, terminal.width, "front"))}`;

/** Shows a title with a few facts below it. */
export const factsTitle = (word: string, name: string, facts: string, terminal: Terminal): string =>
  `${titleLine(word, name, terminal)}\n${terminal.colors.dim(foldText(facts, terminal.width))}`;

/** Shows a text after a label. Further lines of the text are indented below its first line. */
export function labeled(label: string, text: string, { colors, width }: Terminal): string {
  const lead = `${label === "" ? "" : colors.bold(label)}${" ".repeat(LABEL_WIDTH - label.length)}`;
  return foldText(`${lead}${text}`, width, " ".repeat(LABEL_WIDTH));
}

export const indented = (text: string, { width }: Pick<Terminal, "width">): string =>
  foldText(`  ${text}`, width, "  ");

/** Words that a table uses, each with its meaning. */
export type Glossary = readonly (readonly [word: string, meaning: string])[];

/** Formats each word with its meaning on a separate line, dimmed. */
export const glossaryLines = (glossary: Glossary, { colors, width }: Terminal): string =>
  colors.dim(glossary.map(([word, meaning]) => foldText(`${word}: ${meaning}`, width, "  ")).join("\n"));

/** A column of a table. A string is the title of a column that is never cut. */
export type Column = string | FlexibleColumn;

interface FlexibleColumn {
  readonly title: string;
  /** The part of a cell that is cut if there is too little room. Cells that can be cut have no colors. */
  readonly cut?: Cut;
  /**
   * Minimum width. If the minimum widths of all columns do not fit, columns with a `rank` are omitted first.
   */
  readonly least?: number;
  /** Rank of an optional column. In a narrow terminal, the lowest rank is omitted first. */
  readonly rank?: number;
}

/** Column titles. A title that begins with `>` right-aligns its cells. */
export type Columns = readonly Column[];
type Rows = readonly (readonly string[])[];

const SPACE = 2;
const MIN_WIDTH = 8;

interface Measured extends FlexibleColumn {
  readonly cells: readonly string[];
  readonly width: number;
}

/**
 * Shows the rows under dimmed titles. Every column is as wide as its widest cell if the terminal has room for
 * it.
 */
export function table(columns: Columns, rows: Rows, { colors, width }: Style): string {
  const measured = columns.map((column, index): Measured => {
    const flexible = typeof column === "string" ? { title: column } : column;
    const cells = rows.map((row) => row[index] ?? "").map(flexible.cut === undefined ? String : oneLine);
    const widest = Math.max(textWidth(flexible.title.replace(/^>/, "")), ...cells.map(textWidth));
    return { ...flexible, cells, width: flexible.cut === undefined ? widest : Math.min(widest, width) };
  });
  const fitted = narrowed(withoutLesser(measured, width), width);
  const line = (cellOf: (column: Measured) => string): string =>
    fitted
      .map((column) => {
        const pad = column.title.startsWith(">") ? padStart : padEnd;
        const cell = cellOf(column);
        return pad(column.cut === undefined ? cell : fitText(cell, column.width, column.cut), column.width);
      })
      .join(" ".repeat(SPACE))
      .trimEnd();
  return [
    colors.dim(line(({ title }) => title.replace(/^>/, ""))),
    ...rows.map((_, index) => line(({ cells }) => cells[index] ?? "")),
  ].join("\n");
}

type Style = Pick<Terminal, "colors" | "width">;

const widthOf = (columns: readonly Measured[], of: (column: Measured) => number): number =>
  columns.reduce((sum, column) => sum + of(column) + SPACE, -SPACE);

const leastOf = ({ width, cut, least = MIN_WIDTH }: Measured): number =>
  cut === undefined ? width : Math.min(width, least);

/** Omits columns until the others have enough room. */
function withoutLesser(columns: readonly Measured[], room: number): readonly Measured[] {
  if (widthOf(columns, leastOf) <= room) return columns;
  const ranks = columns.flatMap(({ rank }) => rank ?? []);
  const lowest = Math.min(...ranks);
  return ranks.length === 0
    ? columns
    : withoutLesser(
        columns.filter(({ rank }) => rank !== lowest),
        room,
      );
}

/** Narrows the columns that can be cut, starting with the column that has the most to spare. */
function narrowed(columns: readonly Measured[], room: number): readonly Measured[] {
  const flexible = columns.filter(({ cut }) => cut !== undefined);
  const widths = new Map(columns.map((column) => [column, column.width]));
  const widthNow = (column: Measured): number => widths.get(column) ?? 0;
  const spare = (column: Measured): number => widthNow(column) - leastOf(column);
  for (let over = widthOf(columns, widthNow) - room; over > 0; over--) {
    const [most] = flexible.filter((column) => widthNow(column) > 1).sort((a, b) => spare(b) - spare(a));
    if (most !== undefined) widths.set(most, widthNow(most) - 1);
  }
  return columns.map((column) => ({ ...column, width: widthNow(column) }));
}

/** Shows the table under a title, indented. Empty if there are no rows. */
export function titled(title: string, columns: Columns, rows: Rows, terminal: Terminal): string {
  if (rows.length === 0) return "";
  return [
    foldText(terminal.colors.bold(title), terminal.width, "  "),
    ...table(columns, rows, { ...terminal, width: terminal.width - 2 })
      .split("\n")
      .map((line) => `  ${line}`),
  ].join("\n");
}
