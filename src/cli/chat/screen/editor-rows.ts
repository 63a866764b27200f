import { textWidth } from "../../view/text-width.ts";
import type { EditorState } from "./editor.ts";
import { foldedPaste, isPlaceholder } from "./pastes.ts";
import { charactersOf, safeLines } from "./styled-text.ts";

export interface EditorRows {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly before: string };
}

export interface EditorLook {
  /** Before the first row; those that follow are indented as much. */
  readonly prompt: string;
  readonly width: number;
  /** No more rows than this, those around the cursor. */
  readonly height: number;
  readonly dim: (text: string) => string;
}

/** The text as it stands in the terminal: folded where a row is full, with one column left for the cursor. */
export function editorRows(state: EditorState, look: EditorLook): EditorRows {
  const indent = " ".repeat(textWidth(look.prompt));
  const limit = Math.max(textWidth(indent) + 1, look.width - 1);
  const rows = [look.prompt];
  let cursor = { row: 0, before: look.prompt };
  let used = textWidth(indent);
  let offset = 0;
  const newRow = (): void => {
    rows.push(indent);
    used = textWidth(indent);
  };
  const add = (shown: string, styled: string): void => {
    const columns = textWidth(shown);
    if (used + columns > limit && used > textWidth(indent)) newRow();
    rows[rows.length - 1] += styled;
    used += columns;
  };
  const markCursor = (): void => {
    if (offset === state.cursor) cursor = { row: rows.length - 1, before: rows.at(-1) ?? "" };
  };
  for (const character of charactersOf(state.text)) {
    markCursor();
    offset += character.length;
    if (character === "\n") newRow();
    else if (isPlaceholder(character)) {
      for (const letter of foldedPaste(character, state.pastes)) add(letter, look.dim(letter));
    } else {
      const [shown = ""] = safeLines(character, false).lines;
      add(shown, shown);
    }
  }
  markCursor();
  return around({ rows, cursor }, look);
}

/** Of a text that is too tall, the rows around the cursor, and in place of the first one how many there are. */
function around({ rows, cursor }: EditorRows, look: EditorLook): EditorRows {
  if (rows.length <= look.height) return { rows, cursor };
  const room = Math.max(1, look.height - 1);
  const first = Math.min(Math.max(0, cursor.row - room + 1), rows.length - room);
  const shown = rows.slice(first, first + room);
  if (look.height < 2) return { rows: shown, cursor: { ...cursor, row: cursor.row - first } };
  const note = look.dim(`… row ${cursor.row + 1} of ${rows.length}`);
  return { rows: [note, ...shown], cursor: { ...cursor, row: cursor.row - first + 1 } };
}
