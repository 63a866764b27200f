// Our own folding, not wrap-ansi: rows are folded at each key, each must end with a plain reset so that it can stand anywhere,
// and the widths must be ours (see view/text-width.ts).
import { shownText, textWidth } from "../../view/text-width.ts";

/** What is on at some point of a text, by what it concerns: the sequence that switched it on. */
export type Style = ReadonlyMap<string, string>;

export const PLAIN: Style = new Map();
const RESET = "\u001b[0m";

/** Of escape sequences only these get to the terminal, and of these only what `colours` of the screen writes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
const COLOUR = /(\u001b\[\d{1,3}m)/;
/** They make a line read otherwise than it is, such as a command that somebody should allow. */
const DIRECTION_MARKS = /\p{Bidi_Control}/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
const NEEDS_CARE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|\p{Bidi_Control}|\p{Cs}/u;

/** As many as editors show; terminals' eight make code wide. */
const TAB_COLUMNS = 4;

const SWITCHED_OFF_BY: Readonly<Record<number, readonly string[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
  39: ["colour"],
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
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return "colour";
  if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) return "background";
  return SWITCHED_ON_BY[code];
}

/** The style after a sequence; undefined where it is none of ours, such as the one that makes text invisible. */
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
  /** What is still on at the end, for the text that follows. */
  readonly style: Style;
}

/**
 * A text as lines that cannot steer the terminal: no control characters but colours, tabs as blanks. Each line switches on
 * what it needs and ends plain, so that it can stand anywhere. Whoever shows words of others takes their colours
 * out before: here, they look like ours.
 */
export function safeLines(text: string, hasColours: boolean, before: Style = PLAIN): SafeLines {
  if (before.size === 0 && !NEEDS_CARE.test(text)) return { lines: text.split("\n"), style: before };
  let style = before;
  const lines = [opening(style)];
  const add = (piece: string): void => {
    lines[lines.length - 1] += piece;
  };
  for (const [at, piece] of text.split(COLOUR).entries()) {
    if (at % 2 === 1) {
      const after = hasColours ? styleAfter(style, piece) : undefined;
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
/** Each is a character of its own. The segmenter takes microseconds for each, which long commands would feel. */
const ASCII = /^[ -~]*$/;

/** What a person takes for one character, be it of several code points. */
export const charactersOf = (text: string): readonly string[] =>
  ASCII.test(text) ? text.split("") : Array.from(CHARACTERS.segment(text), ({ segment }) => segment);

/** A safe line over as many rows as it needs, broken where a terminal would break it. */
export function foldLine(line: string, width: number): readonly string[] {
  if (textWidth(line) <= width) return [line];
  let style = PLAIN;
  let used = 0;
  const rows = [""];
  const add = (piece: string): void => {
    rows[rows.length - 1] += piece;
  };
  for (const [at, piece] of line.split(COLOUR).entries()) {
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

/** A safe line cut to one row, with an ellipsis. */
export function cutLine(line: string, width: number): string {
  if (textWidth(line) <= width) return line;
  const [first = ""] = foldLine(line, width - 1);
  return textWidth(first) < width ? `${first}…` : "…";
}
