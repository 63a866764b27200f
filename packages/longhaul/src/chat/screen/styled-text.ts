// This file wraps text itself, without wrap-ansi, for three reasons. Rows are wrapped again at each key. Each
// row must end with a reset, so that it can be placed anywhere. The widths must be those of
// view/text-width.ts.
import { shownText, textWidth } from "../../view/text-width.ts";

/**
 * Active styles at a position of a text. The key is the category of a style, and the value is the sequence
 * that switched it on.
 */
export type Style = ReadonlyMap<string, string>;

export const PLAIN: Style = new Map();
const RESET = "\u001b[0m";

/** The only escape sequences that reach the terminal. The screen's `colors` writes only these. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
const COLOR = /(\u001b\[\d{1,3}m)/;
/**
 * Matches bidirectional marks. They can make a line look different from its real text, and the line may be a
 * command that a person is asked to allow.
 */
const DIRECTION_MARKS = /\p{Bidi_Control}/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
const NEEDS_CARE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|\p{Bidi_Control}|\p{Cs}/u;

/**
 * Width of a tab. It is the usual width in editors, because the eight columns of terminals would make code
 * too wide.
 */
const TAB_COLUMNS = 4;

const SWITCHED_OFF_BY: Readonly<Record<number, readonly string[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
  39: ["color"],
  49: ["background"],
};

const SWITCHED_ON_BY: Readonly<Record<number, string>> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  7: "inverse",
  9: "strike",
};

function concernOf(code: number): string | undefined {
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return "color";
  if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) return "background";
  return SWITCHED_ON_BY[code];
}

/**
 * Returns the style after a sequence. Undefined for sequences that we never write, such as the sequence that
 * makes text invisible.
 */
function styleAfter(style: Style, sequence: string): Style | undefined {
  const code = Number(sequence.slice(2, -1));
  if (code === 0) return PLAIN;
  const ended = SWITCHED_OFF_BY[code];
  if (ended !== undefined) return new Map([...style].filter(([concern]) => !ended.includes(concern)));
  const concern = concernOf(code);
  return concern === undefined ? undefined : new Map(style).set(concern, sequence);
}

const opening = (style: Style): string => [...style.values()].join("");
const closing = (style: Style): string => (style.size > 0 ? RESET : "");

export interface SafeLines {
  readonly lines: readonly string[];
  /** Styles that are still active at the end, for the next text. */
  readonly style: Style;
}

/**
 * Splits a text into lines that cannot control the terminal. Keeps colors, removes all other control
 * characters, and replaces tabs with blanks. Each line is self-contained and ends without style. If the text
 * comes from a model or a file, remove its colors before the call.
 */
export function safeLines(text: string, hasColors: boolean, before: Style = PLAIN): SafeLines {
  if (before.size === 0 && !NEEDS_CARE.test(text)) return { lines: text.split("\n"), style: before };
  let style = before;
  const lines = [opening(style)];
  const add = (piece: string): void => {
    lines[lines.length - 1] += piece;
  };
  for (const [at, piece] of text.split(COLOR).entries()) {
    if (at % 2 === 1) {
      const after = hasColors ? styleAfter(style, piece) : undefined;
      if (after !== undefined) add(piece);
      style = after ?? style;
      continue;
    }
    const [first = "", ...others] = shownText(piece.replace(DIRECTION_MARKS, "")).toWellFormed().split("\n");
    add(first);
    for (const other of others) {
      add(closing(style));
      lines.push(opening(style) + other);
    }
  }
  add(closing(style));
  return { lines: lines.map(withoutTabs), style };
}

function withoutTabs(line: string): string {
  const [first = "", ...others] = line.split("\t");
  if (others.length === 0) return line;
  let column = textWidth(first);
  const pieces = others.map((piece) => {
    const blanks = TAB_COLUMNS - (column % TAB_COLUMNS);
    column += blanks + textWidth(piece);
    return `${" ".repeat(blanks)}${piece}`;
  });
  return first + pieces.join("");
}

const CHARACTERS = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/**
 * ASCII text needs no segmenter, because each character is separate. The segmenter takes microseconds per
 * character, which is noticeable for long commands.
 */
const ASCII = /^[ -~]*$/;

/** Splits a text into user-perceived characters (graphemes). */
export const charactersOf = (text: string): readonly string[] =>
  ASCII.test(text) ? text.split("") : Array.from(CHARACTERS.segment(text), ({ segment }) => segment);

/** Wraps a safe line like a terminal. */
export function foldLine(line: string, width: number): readonly string[] {
  if (textWidth(line) <= width) return [line];
  let style = PLAIN;
  let used = 0;
  const rows = [""];
  const add = (piece: string): void => {
    rows[rows.length - 1] += piece;
  };
  for (const [at, piece] of line.split(COLOR).entries()) {
    if (at % 2 === 1) {
      style = styleAfter(style, piece) ?? style;
      add(piece);
      continue;
    }
    for (const character of charactersOf(piece)) {
      const columns = textWidth(character);
      if (used > 0 && used + columns > width) {
        add(closing(style));
        rows.push(opening(style));
        used = 0;
      }
      add(character);
      used += columns;
    }
  }
  return rows;
}

/** Cuts a safe line to one row, with an ellipsis. */
export function cutLine(line: string, width: number): string {
  if (textWidth(line) <= width) return line;
  const [first = ""] = foldLine(line, width - 1);
  return textWidth(first) < width ? `${first}…` : "…";
}
