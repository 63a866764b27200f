import { withoutControls } from "@longhaul/core/internal/messages";

/** A text that a person is editing, with the input history. */
export interface EditorState {
  /** The edited text. A folded paste is one character in it. */
  readonly text: string;
  /** Position of the cursor in UTF-16 units, never inside a character. */
  readonly cursor: number;
  readonly pastes: readonly string[];
  /** Sent inputs, newest last. */
  readonly history: readonly string[];
  /** Index of the shown history item. Undefined for the draft. */
  readonly shown: number | undefined;
  /** Text of the draft at the moment when the history was opened. */
  readonly draft: string;
  /** Last deleted text, for pasting it again (yank). */
  readonly taken: string;
}

export const EMPTY_EDITOR: EditorState = {
  text: "",
  cursor: 0,
  pastes: [],
  history: [],
  shown: undefined,
  draft: "",
  taken: "",
};

export type Edit =
  | "left"
  | "right"
  | "word-left"
  | "word-right"
  | "line-start"
  | "line-end"
  | "up"
  | "down"
  | "delete-left"
  | "delete-right"
  | "take-word-left"
  | "take-word-right"
  | "take-line-left"
  | "take-line-right"
  | "put";

/** Longer pastes are folded to a few words, so that the input line stays readable. */
const LONGEST_OPEN_PASTE_LINES = 5;
const LONGEST_OPEN_PASTE_CHARACTERS = 1000;

const CHARACTERS = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });

/**
 * Cleans text from the keyboard or the clipboard. Keeps line breaks and tabs, removes other control
 * characters.
 */
const fitToEdit = (text: string): string =>
  withoutControls(text.replace(/\r\n?/g, "\n")).toWellFormed().replace(PLACEHOLDERS, "");

/**
 * Sets the text, and moves the cursor to this position. If the position is inside a character, moves the
 * cursor to the end of that character.
 */
function at(state: EditorState, text: string, cursor: number): EditorState {
  const around = CHARACTERS.segment(text).containing(cursor);
  const isWithin = around !== undefined && around.index < cursor;
  return { ...state, text, cursor: isWithin ? around.index + around.segment.length : cursor };
}

export const insert = (state: EditorState, text: string): EditorState => insertRaw(state, fitToEdit(text));

function insertRaw(state: EditorState, added: string): EditorState {
  const text = state.text.slice(0, state.cursor) + added + state.text.slice(state.cursor);
  return at(state, text, state.cursor + added.length);
}

export function paste(state: EditorState, pasted: string): EditorState {
  const text = fitToEdit(pasted);
  const isShort =
    text.length <= LONGEST_OPEN_PASTE_CHARACTERS && text.split("\n").length <= LONGEST_OPEN_PASTE_LINES;
  if (isShort) return insertRaw(state, text);
  const placeholder = placeholderOf(state.pastes.length);
  return insertRaw({ ...state, pastes: [...state.pastes, text] }, placeholder);
}

/** Replaces the text. The history keeps the old text. */
export function replaceText(state: EditorState, text: string): EditorState {
  return insert(clear(state), text);
}

/** Clears the text. The history keeps it. */
export function clear(state: EditorState): EditorState {
  const { text, pastes, taken } = state;
  const isNew = text.trim() !== "" && state.history.at(-1) !== text;
  const history = isNew ? [...state.history, text] : state.history;
  return { ...EMPTY_EDITOR, pastes, taken, history };
}

/** Returns the text to send, with pastes expanded. */
export const wholeText = ({ text, pastes }: EditorState): string =>
  text.replace(PLACEHOLDERS, (placeholder) => pastes[indexOf(placeholder)] ?? "");

/**
 * Replaces a backslash at the end of the text with a line break. Returns undefined if there is no backslash.
 */
export function continued(state: EditorState): EditorState | undefined {
  if (state.cursor !== state.text.length || !state.text.endsWith("\\")) return undefined;
  const text = `${state.text.slice(0, -1)}\n`;
  return { ...state, text, cursor: text.length };
}

export const edit = (state: EditorState, how: Edit): EditorState => EDITS[how](state);

const without = (state: EditorState, from: number, to: number): EditorState =>
  at(state, state.text.slice(0, from) + state.text.slice(to), from);

function take(state: EditorState, from: number, to: number): EditorState {
  if (from === to) return state;
  return { ...without(state, from, to), taken: state.text.slice(from, to) };
}

const leftOf = (text: string, cursor: number): number =>
  cursor === 0 ? 0 : (CHARACTERS.segment(text).containing(cursor - 1)?.index ?? 0);

function rightOf(text: string, cursor: number): number {
  const next = CHARACTERS.segment(text).containing(cursor);
  return next === undefined ? text.length : next.index + next.segment.length;
}

const isWord = ({ segment, isWordLike }: Intl.SegmentData): boolean =>
  isWordLike === true || isPlaceholder(segment);

function wordLeftOf(text: string, cursor: number): number {
  return Array.from(WORDS.segment(text.slice(0, cursor))).findLast(isWord)?.index ?? 0;
}

function wordRightOf(text: string, cursor: number): number {
  const rest = text.slice(cursor);
  const word = Array.from(WORDS.segment(rest)).find(isWord);
  return word === undefined ? text.length : cursor + word.index + word.segment.length;
}

/**
 * Returns the start of the cursor's line. Position 0 is a special case, because a search from -1 would find a
 * line break at position 0.
 */
const lineStart = (text: string, cursor: number): number =>
  cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;

function lineEnd(text: string, cursor: number): number {
  const end = text.indexOf("\n", cursor);
  return end === -1 ? text.length : end;
}

const lengthInCharacters = (text: string): number => Array.from(CHARACTERS.segment(text)).length;

/**
 * Returns the position of the character with this index in the line. If the line is shorter, returns its end.
 */
function inLine(text: string, start: number, characters: number): number {
  const line = text.slice(start, lineEnd(text, start));
  const found = Array.from(CHARACTERS.segment(line))[characters];
  return start + (found?.index ?? line.length);
}

/** Moves up one line. From the first line, goes back in the history. */
function moveUp(state: EditorState): EditorState {
  const { text, cursor, history, shown } = state;
  const start = lineStart(text, cursor);
  if (start > 0) {
    const characters = lengthInCharacters(text.slice(start, cursor));
    return at(state, text, inLine(text, lineStart(text, start - 1), characters));
  }
  const older = (shown ?? history.length) - 1;
  const found = history[older];
  if (found === undefined) return state;
  const draft = shown === undefined ? text : state.draft;
  return { ...state, text: found, cursor: found.length, shown: older, draft };
}

/** Moves down one line. From the last line, goes forward in the history, which ends with the draft. */
function moveDown(state: EditorState): EditorState {
  const { text, cursor, history, shown } = state;
  const end = lineEnd(text, cursor);
  if (end < text.length) {
    const characters = lengthInCharacters(text.slice(lineStart(text, cursor), cursor));
    return at(state, text, inLine(text, end + 1, characters));
  }
  if (shown === undefined) return state;
  const newer = history[shown + 1];
  if (newer !== undefined) return { ...state, text: newer, cursor: newer.length, shown: shown + 1 };
  return { ...state, text: state.draft, cursor: state.draft.length, shown: undefined, draft: "" };
}

type Find = (text: string, cursor: number) => number;
type Editing = (state: EditorState) => EditorState;

const moving =
  (find: Find): Editing =>
  (state) =>
    at(state, state.text, find(state.text, state.cursor));

/** Changes the text between the cursor and a position to its left or right. */
const changing =
  (change: (state: EditorState, from: number, to: number) => EditorState, find: Find): Editing =>
  (state) => {
    const found = find(state.text, state.cursor);
    return change(state, Math.min(found, state.cursor), Math.max(found, state.cursor));
  };

const EDITS: Readonly<Record<Edit, Editing>> = {
  left: moving(leftOf),
  right: moving(rightOf),
  "word-left": moving(wordLeftOf),
  "word-right": moving(wordRightOf),
  "line-start": moving(lineStart),
  "line-end": moving(lineEnd),
  up: moveUp,
  down: moveDown,
  "delete-left": changing(without, leftOf),
  "delete-right": changing(without, rightOf),
  "take-word-left": changing(take, wordLeftOf),
  "take-word-right": changing(take, wordRightOf),
  "take-line-left": changing(take, lineStart),
  "take-line-right": changing(take, lineEnd),
  put: (state) => insertRaw(state, state.taken),
};

/**
 * A long paste is one placeholder character in the text. So the cursor steps over the paste, and one key
 * press deletes it. The placeholders are from Unicode's last private plane, which nothing else uses. They are
 * removed from typed and pasted text.
 */
const FIRST = 0x100000;
const LAST = 0x10fffd;

const PLACEHOLDERS = /[\u{100000}-\u{10fffd}]/gu;

const placeholderOf = (index: number): string => String.fromCodePoint(Math.min(LAST, FIRST + index));

const indexOf = (placeholder: string): number => (placeholder.codePointAt(0) ?? 0) - FIRST;

export const isPlaceholder = (character: string): boolean => indexOf(character) >= 0;

/** Returns the placeholder to show instead of the paste. */
export function foldedPaste(placeholder: string, pastes: readonly string[]): string {
  const pasted = pastes[indexOf(placeholder)] ?? "";
  const lines = pasted.split("\n").length;
  return lines > 1 ? `[pasted ${lines} lines]` : `[pasted ${pasted.length} characters]`;
}
