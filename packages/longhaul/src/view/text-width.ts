// This file measures and wraps text without string-width and wrap-ansi, for three reasons. The screen
// measures its rows at each key. These packages (8.3 and 10.0) are 8 to 25 times slower than this file,
// except for ASCII text. The packages count a joined emoji as two columns. In a terminal that does not join
// the emoji, it would overlap other text. wrap-ansi has no hanging indent. A test compares our widths with
// those of string-width.
import { stripVTControlCharacters } from "node:util";
import { withoutControls } from "@longhaul/core/internal/messages";

/** Characters that take two columns in a terminal: East Asian scripts, full-width forms, emoji. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe1f\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\p{Extended_Pictographic}|\p{Emoji_Modifier}/u;
/** Characters that take no column: combining marks, joiners, bidirectional marks. */
const WITHOUT_WIDTH = /\p{Mn}|\p{Me}|[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;
const PLAIN = /^[ -~]*$/;

/**
 * Returns the width in columns. A joined emoji counts as wide as its parts side by side, because some
 * terminals do not join emoji. In terminals that join them, some columns stay free.
 */
export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of stripVTControlCharacters(text)) {
    if (!WITHOUT_WIDTH.test(character)) width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

/**
 * Invisible characters that change how other characters look: bidirectional marks, zero-width spaces and
 * tags. Joiners are not included, because letters and emoji need them. Tags after a flag are not included for
 * the same reason.
 */
const DECEIVING =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]*)[\u{e0000}-\u{e007f}]/gu;

/**
 * Replaces each deceiving character with a visible escape. Within JSON, the escape has the same value as the
 * character.
 */
const withVisibleMarks = (text: string): string => text.replace(DECEIVING, escaped);

const escaped = (mark: string): string =>
  mark
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/** All control characters of Unicode, except line breaks and tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * Prepares text that a person decides about, such as a command. Omits nothing: even if an escape sequence
 * hides words, a shell would run them. Control characters become visible escapes. Line breaks and tabs stay.
 */
export const withNothingHidden = (text: string): string =>
  withVisibleMarks(text.replaceAll("\r\n", "\n").replace(CONTROLS, escaped));

/**
 * Makes all output of longhaul safe. Keeps our own colors and turns every other control sequence into a
 * visible escape. Within JSON, the escape has the same value as the sequence.
 */
export const withOnlyColors = (text: string, hasColors: boolean): string =>
  withVisibleMarks(
    text.replace(COLOR_OR_CONTROL, (found) => (found.length > 1 ? (hasColors ? found : "") : escaped(found))),
  );

const COLOR_OR_CONTROL = new RegExp(
  `\\u001b\\[(?:[0-479]|2[2-479]|[349][0-79]|10[0-7])m|${CONTROLS.source}`,
  "g",
);

/** Makes text of a session, a model or a file safe for a terminal. Line breaks and tabs stay. */
export const shownText = (text: string): string => withVisibleMarks(withoutControls(text));

/**
 * Makes text of a session file safe for one line of a terminal. Control characters in the text must not move
 * the cursor, change colors or break the line.
 */
export function oneLine(text: string): string {
  return withVisibleMarks(
    stripVTControlCharacters(text)
      .replace(/[\s\p{Cc}]+/gu, " ")
      .trim(),
  );
}

/**
 * The part that a cut removes: the end, the front or the middle. Paths are cut at the front, because their
 * end is most informative.
 */
export type Cut = "end" | "front" | "middle";

/** Returns true for one word with a slash. The end of a path is its most informative part. */
export const isPath = (text: string): boolean => /^[^\s]*[\\/][^\s]*$/.test(text);

/** Cuts a text to a width, with an ellipsis. */
export function fitText(text: string, width: number, cut: Cut = "end"): string {
  const line = oneLine(text);
  if (textWidth(line) <= width) return line;
  const room = Math.max(0, width - 1);
  if (cut === "end") return `${headOf(line, room)}…`;
  if (cut === "front") return `…${tailOf(line, room)}`;
  const head = headOf(line, Math.ceil(room / 2));
  return `${head}…${tailOf(line, room - textWidth(head))}`;
}

/** Returns as much of the start of a text as fits. */
function headOf(text: string, width: number): string {
  let fitted = "";
  for (const character of text) {
    if (textWidth(fitted + character) > width) break;
    fitted += character;
  }
  return fitted;
}

/** Returns as much of the end of a text as fits. */
function tailOf(text: string, width: number): string {
  let fitted = "";
  for (const character of [...text].reverse()) {
    if (textWidth(character + fitted) > width) break;
    fitted = character + fitted;
  }
  return fitted;
}

/** A word with the spaces before it. A unit stays with its number. */
const WORD = / *[^ ]*\d (?:s|ms|min|[KMG]?B)[,.;:)]*(?= |$)| *[^ ]+/g;

/**
 * Wraps a sentence between words. Breaks a word only if it is wider than a line. Indents all lines after the
 * first.
 */
export function foldText(text: string, width: number, indent: string = ""): string {
  const lines = [""];
  // Takes each word with the space before it. The space is dropped at a line break.
  for (const word of text.match(WORD) ?? []) {
    const line = `${lines.at(-1)}${word}`;
    if (textWidth(line) <= width) lines[lines.length - 1] = line;
    else if (line === word) lines.splice(-1, 1, ...piecesOf(word, width, ""));
    else lines.push(...piecesOf(word.trimStart(), width, indent));
  }
  return lines.join("\n");
}

function piecesOf(word: string, width: number, indent: string): readonly string[] {
  if (textWidth(indent + word) <= width) return [indent + word];
  const pieces = [indent];
  for (const character of word) {
    const piece = `${pieces.at(-1)}${character}`;
    if (textWidth(piece) <= width || pieces.at(-1) === indent) pieces[pieces.length - 1] = piece;
    else pieces.push(`${indent}${character}`);
  }
  return pieces;
}

export const padEnd = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - textWidth(text)));
export const padStart = (text: string, width: number): string =>
  " ".repeat(Math.max(0, width - textWidth(text))) + text;
