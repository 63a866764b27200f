import { foldText } from "../../view/text-width.ts";
import {
  clear,
  continued,
  type EditorState,
  EMPTY_EDITOR,
  edit,
  insert,
  paste,
  replaceText,
  wholeText,
} from "./editor.ts";
import { type EditorRows, editorRows } from "./editor-rows.ts";
import { EDITING_KEYS, type KeyPress } from "./keys.ts";
import type { Look, ScreenHandlers } from "./screen.ts";
import { safeLines } from "./styled-text.ts";

/** Input line for prompts and commands. */
export interface InputLine {
  press(press: KeyPress): void;
  suggest(text: string): void;
  isEmpty(): boolean;
  rows(look: Look): EditorRows;
}

const PROMPT = "> ";
/** Maximum rows of suggested commands. More would push the output off the screen. */
const MAX_COMPLETION_ROWS = 3;

export function createInputLine(handlers: ScreenHandlers): InputLine {
  let editor = EMPTY_EDITOR;
  let completions: readonly string[] = [];
  const change = (changed: EditorState): void => {
    editor = changed;
    const isCommand = editor.text.startsWith("/") && !editor.text.includes("\n");
    completions = isCommand ? handlers.complete(editor.text).filter((one) => one !== editor.text) : [];
  };
  const enter = (): void => {
    const more = continued(editor);
    if (more !== undefined) {
      change(more);
      return;
    }
    const text = wholeText(editor);
    change(clear(editor));
    if (text.trim() !== "") handlers.submitted(text);
  };
  const pressKey = (name: string): void => {
    const isEmpty = editor.text === "";
    if (name === "enter") enter();
    else if (name === "alt-enter" || name === "ctrl-j") change(insert(editor, "\n"));
    else if (name === "tab") change(completed(editor, completions));
    else if (name === "ctrl-c" && !isEmpty) change(clear(editor));
    else if (name === "ctrl-c") handlers.interrupted();
    else if (name === "esc") handlers.escaped();
    else if (isEmpty && name === "ctrl-d") handlers.ended();
    else {
      const how = EDITING_KEYS.get(name);
      if (how !== undefined) change(edit(editor, how));
    }
  };
  return {
    press: (press) => {
      if (press.type === "key") pressKey(press.name);
      else change(press.type === "text" ? insert(editor, press.text) : paste(editor, press.text));
    },
    suggest: (text) => change(replaceText(editor, text)),
    isEmpty: () => editor.text === "",
    rows: (look) => inputRows(editor, completions, look),
  };
}

/** Completes the input up to the longest beginning that all candidates share. */
function completed(editor: EditorState, completions: readonly string[]): EditorState {
  const [first] = completions;
  if (first === undefined) return editor;
  let common = first;
  for (const other of completions) {
    while (!other.startsWith(common)) common = common.slice(0, -1);
  }
  if (common.length <= editor.text.length) return editor;
  return insert({ ...editor, text: "", cursor: 0 }, common);
}

function inputRows(editor: EditorState, completions: readonly string[], look: Look): EditorRows {
  const { width, colors } = look;
  const prompt = colors.cyan(PROMPT);
  const written = editorRows(editor, { prompt, width, height: look.height, dim: colors.dim });
  const room = Math.min(MAX_COMPLETION_ROWS, look.height - written.rows.length);
  return { ...written, rows: [...written.rows, ...completionRows(completions, room, look)] };
}

function completionRows(completions: readonly string[], room: number, look: Look): readonly string[] {
  if (completions.length === 0 || room < 1) return [];
  const names = completions.map((one) => safeLines(one, false).lines.join(" ").replaceAll(" ", "\u00a0"));
  const rows = foldText(`  ${names.join("  ")}`, look.width, "  ").split("\n");
  const shown = rows.slice(0, room);
  if (rows.length > room) shown[room - 1] = `${shown[room - 1]} …`;
  return shown.map((row) => look.colors.dim(row));
}
