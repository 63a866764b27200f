import type { PiecePlace } from "./dictionary.ts";
import { isIdeograph, isWordUnit, WordScanner } from "./words.ts";

/** A word of a query, whole and in its parts. */
export interface QueryTerm {
  readonly text: string;
  readonly parts: readonly string[];
}

/** The same words that an index of the text would have. */
export function termsOf(text: string): readonly QueryTerm[] {
  const found: { text: string; parts: string[] }[] = [];
  const textOf = (units: Uint16Array, from: number, to: number): string =>
    String.fromCharCode(...units.subarray(from, to));
  new WordScanner({
    term: (_hash, _check, units, from, to) => found.push({ text: textOf(units, from, to), parts: [] }),
    part: (_hash, _check, units, from, to) => found.at(-1)?.parts.push(textOf(units, from, to)),
    long: () => undefined,
  }).scan(text);
  return found;
}

/** What must be in the index where a text stands: words that are whole, and pieces of words at its two ends. */
export interface NeededTerms {
  readonly whole: readonly string[];
  readonly pieces: readonly Piece[];
}

/** Where it stands in a longer word. */
export interface Piece {
  readonly text: string;
  readonly where: PiecePlace;
}

/**
 * A colour without its first character, which nobody sees and nobody copies, and what it is glued to: `[31mError` may
 * be known as `error`, or as it stands.
 */
const REST_OF_COLOUR = /^\[(?:[\d;?]+[A-Za-z]|[mK])\S*/;

export function neededTerms(text: string): NeededTerms {
  const literal = text.replace(REST_OF_COLOUR, " ");
  const terms = termsOf(literal);
  const whole: string[] = [];
  const pieces: Piece[] = [];
  for (const [nth, { text }] of terms.entries()) {
    // A pair of ideographs is in the index wherever its two characters stand side by side.
    const isPair = text.length === 2 && isIdeograph(text.charCodeAt(0)) && isIdeograph(text.charCodeAt(1));
    const touchesStart = nth === 0 && isWordUnit(literal.charCodeAt(0));
    const touchesEnd = nth === terms.length - 1 && isWordUnit(literal.charCodeAt(literal.length - 1));
    if (isPair || !(touchesStart || touchesEnd)) whole.push(text);
    else pieces.push({ text, where: !touchesStart ? "start" : touchesEnd ? "anywhere" : "end" });
  }
  return { whole, pieces };
}
