// Our own width and folding, not string-width and wrap-ansi. Measured with 8.3 and 10.0: they take 8 to 25 times as long
// for all but ASCII, and the screen measures its rows at each key. They count an emoji that is joined of several as two
// columns, so that it would overlap in a terminal that does not join it. wrap-ansi knows no hanging indent. A test
// compares our table with that of string-width.
import { stripVTControlCharacters } from "node:util";
import { withoutControls } from "@longhaul/core/internal/messages";

/** Characters that take two columns in a terminal: East Asian scripts, full-width forms, emoji. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe1f\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\p{Extended_Pictographic}|\p{Emoji_Modifier}/u;
/** Characters that take none: marks that combine with the one before, joiners, direction marks. */
const WITHOUT_WIDTH = /\p{Mn}|\p{Me}|[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;
const PLAIN = /^[ -~]*$/;

/**
 * In columns. An emoji that is joined of several counts as these side by side, as terminals show it that do not join
 * them: with others there is room to spare.
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
 * Characters that are not seen but change how others are seen: marks of direction, spaces without width, tags. Joiners
 * stay, because letters and emoji are made with them, and so do tags that follow a flag.
 */
const DECEIVING =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]*)[\u{e0000}-\u{e007f}]/gu;

/** Each of these as an escape that is seen. Within JSON it is the same value. */
const withVisibleMarks = (text: string): string => text.replace(DECEIVING, escaped);

const escaped = (mark: string): string =>
  mark
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/** All of Unicode's, but line breaks and tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * Text that somebody decides about, such as a command: nothing of it is left out. A shell runs the words inside an
 * escape sequence, so control characters become escapes that are seen. Lines and tabs stay.
 */
export const withNothingHidden = (text: string): string =>
  withVisibleMarks(text.replaceAll("\r\n", "\n").replace(CONTROLS, escaped));

/**
 * Makes everything safe that longhaul prints: colours are its own, every other control sequence is somebody else's and shows
 * as an escape. Within JSON that is the same value.
 */
export const withOnlyColours = (text: string, hasColours: boolean): string =>
  withVisibleMarks(
    text.replace(COLOUR_OR_CONTROL, (found) =>
      found.length > 1 ? (hasColours ? found : "") : escaped(found),
    ),
  );

const COLOUR_OR_CONTROL = new RegExp(
  `\\u001b\\[(?:[0-479]|2[2-479]|[349][0-79]|10[0-7])m|${CONTROLS.source}`,
  "g",
);

/** Text of a session, a model or a file as a terminal may show it. Lines and tabs stay. */
export const shownText = (text: string): string => withVisibleMarks(withoutControls(text));

/**
 * What a session file says goes to a terminal: control characters in it must not move the cursor or
 * change colours, and one line must stay one line.
 */
export function oneLine(text: string): string {
  return withVisibleMarks(
    stripVTControlCharacters(text)
      .replace(/[\s\p{Cc}]+/gu, " ")
      .trim(),
  );
}

/** Cuts to a width, with an ellipsis; from the front for paths, whose end tells most. */
export function fitText(text: string, width: number, from: "end" | "front" = "end"): string {
  const line = oneLine(text);
  if (textWidth(line) <= width) return line;
  const characters = [...line];
  let fitted = "";
  while (characters.length > 0) {
    const next = from === "end" ? characters.shift() : characters.pop();
    const candidate = from === "end" ? `${fitted}${next}` : `${next}${fitted}`;
    if (textWidth(candidate) >= width) break;
    fitted = candidate;
  }
  return from === "end" ? `${fitted}…` : `…${fitted}`;
}

/**
 * A sentence on as many lines as it needs, broken between words, and within one only where it is wider than a
 * line; what follows the first line is indented.
 */
export function foldText(text: string, width: number, indent: string = ""): string {
  const lines = [""];
  // Each word with the space before it, which stays unless the line is broken there.
  for (const word of text.match(/ *[^ ]+/g) ?? []) {
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
