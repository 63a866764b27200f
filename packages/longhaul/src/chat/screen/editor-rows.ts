// This file wraps text without wrap-ansi for two reasons. The code must find the cursor in the rows. It must
// also never break a folded paste.
import { textWidth } from "../../view/text-width.ts";
import { type EditorState, foldedPaste, isPlaceholder } from "./editor.ts";
import { charactersOf, safeLines } from "./styled-text.ts";

export interface EditorRows {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly before: string };
}

export interface EditorLook {
  /** Prefix of the first row. The next rows have the same indent. */
  readonly prompt: string;
  readonly width: number;
  /** Maximum number of rows. A longer text shows only the rows around the cursor. */
  readonly height: number;
  readonly dim: (text: string) => string;
}

/** A unit of text that a line break cannot split, such as a character. */
interface Cell {
  readonly shown: string;
  readonly columns: number;
  readonly isBlank: boolean;
  /** True if the cursor is before this cell. */
  readonly hasCursor: boolean;
}

/** Lays out the text for the terminal. Wraps it between words and leaves one column free for the cursor. */
export function editorRows(state: EditorState, look: EditorLook): EditorRows {
  const indent = " ".repeat(textWidth(look.prompt));
  const room = Math.max(1, look.width - 1 - indent.length);
  const cells = cellRows(state, look).flatMap((line) => foldCells(line, room));
  const lead = (row: number): string => (row === 0 ? look.prompt : indent);
  const joined = (row: readonly Cell[]): string => row.map(({ shown }) => shown).join("");
  const row = cells.findIndex((one) => one.some(({ hasCursor }) => hasCursor));
  const found = cells[row] ?? [];
  const before = found.slice(
    0,
    found.findIndex(({ hasCursor }) => hasCursor),
  );
  const rows = cells.map((one, at) => lead(at) + joined(one));
  return around({ rows, cursor: { row, before: lead(row) + joined(before) } }, look);
}

/** Splits each line into cells, with a zero-width cell at its end for the cursor. */
function cellRows(state: EditorState, { dim }: EditorLook): readonly (readonly Cell[])[] {
  const lines: Cell[][] = [[]];
  let offset = 0;
  const add = (shown: string, isFirst: boolean, styled: string = shown): void => {
    const hasCursor = isFirst && offset === state.cursor;
    lines.at(-1)?.push({ shown: styled, columns: textWidth(shown), isBlank: shown === " ", hasCursor });
  };
  for (const character of charactersOf(state.text)) {
    if (character === "\n") {
      add("", true);
      lines.push([]);
    } else if (isPlaceholder(character)) {
      const letters = [...foldedPaste(character, state.pastes)];
      for (const [at, letter] of letters.entries()) add(letter, at === 0, dim(letter));
    } else {
      const [shown = ""] = safeLines(character, false).lines;
      add(shown, true);
    }
    offset += character.length;
  }
  add("", true);
  return lines;
}

/**
 * Wraps the cells of a line into rows. One blank may extend past the end of a row, into the cursor's column.
 */
function foldCells(cells: readonly Cell[], room: number): readonly (readonly Cell[])[] {
  const rows: Cell[][] = [[]];
  let used = 0;
  for (const cell of cells) {
    const row = rows.at(-1) ?? [];
    const isFull = used + cell.columns > room && row.length > 0;
    if (isFull && cell.columns > 0 && !(cell.isBlank && used === room)) {
      const moved = wordBefore(row, cell, room);
      row.splice(row.length - moved.length);
      rows.push(moved);
      used = widthOf(moved);
    }
    rows.at(-1)?.push(cell);
    used += cell.columns;
  }
  return rows;
}

const widthOf = (cells: readonly Cell[]): number => cells.reduce((sum, { columns }) => sum + columns, 0);

/**
 * Returns the cells to move to the next row. These are the cells of the word that this cell continues.
 * Returns no cells if the word fills the whole row or is too long for any row.
 */
function wordBefore(row: readonly Cell[], cell: Cell, room: number): Cell[] {
  const start = cell.isBlank ? row.length : row.findLastIndex(({ isBlank }) => isBlank) + 1;
  const word = row.slice(start);
  return start > 0 && widthOf(word) + cell.columns <= room ? word : [];
}

/** Shows the rows around the cursor if the text is too tall. The first row becomes a count of hidden rows. */
function around({ rows, cursor }: EditorRows, look: EditorLook): EditorRows {
  if (rows.length <= look.height) return { rows, cursor };
  const room = Math.max(1, look.height - 1);
  const first = Math.min(Math.max(0, cursor.row - room + 1), rows.length - room);
  const shown = rows.slice(first, first + room);
  if (look.height < 2) return { rows: shown, cursor: { ...cursor, row: cursor.row - first } };
  const note = look.dim(`… row ${cursor.row + 1} of ${rows.length}`);
  return { rows: [note, ...shown], cursor: { ...cursor, row: cursor.row - first + 1 } };
}
