/**
 * Knowledge of the scanner about a UTF-16 unit: which kind of run it belongs to, and which symbol it
 * is when it is only the neighbour of another character. Built once from ranges; a regular expression with
 * Unicode properties would say the same, a thousand times slower per character.
 */

const { charCodeAt } = String.prototype;

/**
 * `text.charCodeAt(at)`, at the same speed for every text. Engines have a dozen representations of strings
 * (slices, concatenations, one and two bytes); after meeting five, they look the method up at each call.
 */
export const codeAt = (text: string, at: number): number => charCodeAt.call(text, at);

/** The runs a text falls apart into. The order matters: LOWER and UPPER are the letters. */
export const PUNCTUATION = 0;
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
export const CJK = 4;
const SYMBOL = 5;
export const SURROGATE = 6;

/** Symbols of neighbours that are not ASCII punctuation (that is its own symbol: its code). */
const LETTER_SYMBOL = { latin: 4, modifier: 5, greekCyrillic: 6 } as const;
const CJK_SYMBOL = { punctuation: 8, kana: 11, han: 12, hangul: 14, fullwidth: 15 } as const;
const SYMBOL_SYMBOL = {
  otherScript: 7,
  surrogate: 16,
  generalPunctuation: 17,
  arrowsAndBoxes: 18,
  rest: 19,
} as const;

/** Latin, Greek and Cyrillic: the alphabets whose words the vocabularies hold. Others go by their blocks. */
function isAlphabetic(code: number): boolean {
  if (code === 0xd7 || code === 0xf7) return false;
  return (code >= 0xc0 && code < 0x530) || (code >= 0x1e00 && code < 0x1f00) || isLatin1Letter(code);
}

const isLatin1Letter = (code: number): boolean => code === 0xaa || code === 0xb5 || code === 0xba;

function kindOf(code: number): number {
  if (code < 0x80) return asciiKind(code);
  if (code >= 0xd800 && code < 0xe000) return SURROGATE;
  if ((code >= 0x2e80 && code < 0xa4d0) || (code >= 0xac00 && code < 0xd7b0)) return CJK;
  if ((code >= 0xf900 && code < 0xfb00) || (code >= 0xff00 && code < 0xfff0)) return CJK;
  if (!isAlphabetic(code)) return SYMBOL;
  const character = String.fromCharCode(code);
  return character.toLowerCase() === character ? LOWER : UPPER;
}

function asciiKind(code: number): number {
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return UPPER;
  return code >= 48 && code <= 57 ? DIGIT : PUNCTUATION;
}

function symbolOf(code: number, kind: number): number {
  if (code < 0x80) return kind === PUNCTUATION ? code : kind;
  if (kind === LOWER || kind === UPPER) {
    if (code < 0x250) return LETTER_SYMBOL.latin;
    if (code < 0x370) return LETTER_SYMBOL.modifier;
    return code < 0x530 ? LETTER_SYMBOL.greekCyrillic : LETTER_SYMBOL.latin;
  }
  if (kind === CJK) {
    if (code < 0x3040) return CJK_SYMBOL.punctuation;
    if (code < 0x3100) return CJK_SYMBOL.kana;
    if (code < 0xa4d0) return CJK_SYMBOL.han;
    return code < 0xd7b0 ? CJK_SYMBOL.hangul : CJK_SYMBOL.fullwidth;
  }
  if (kind === SURROGATE) return SYMBOL_SYMBOL.surrogate;
  if (code >= 0x530 && code < 0x2000) return SYMBOL_SYMBOL.otherScript;
  if (code < 0x2070) return SYMBOL_SYMBOL.generalPunctuation;
  return code < 0x2e80 ? SYMBOL_SYMBOL.arrowsAndBoxes : SYMBOL_SYMBOL.rest;
}

const UNITS = 0x10000;

/** From here on everything above goes by whole rows of the code charts. */
const ROWS_FROM = 0x2000;
const ROW = 16;

/** Row by row where a row is of one kind: this runs whenever the library is loaded. */
function tabulate(entryFor: (code: number) => number): Uint8Array {
  const table = new Uint8Array(UNITS);
  for (let code = 0; code < ROWS_FROM; code++) table[code] = entryFor(code);
  for (let code = ROWS_FROM; code < UNITS; code += ROW) table.fill(entryFor(code), code, code + ROW);
  return table;
}

/** Kind of every UTF-16 unit. Never written after this module has loaded. */
export const KIND: Uint8Array = tabulate(kindOf);

/** Symbol of every UTF-16 unit. Never written after this module has loaded. */
export const SYMBOL_OF: Uint8Array = tabulate((code) => symbolOf(code, KIND[code] ?? 0));

/** How many symbols there are: ASCII codes with the low control codes lent to the classes above. */
export const SYMBOLS = 128;

/** Stands before the first and after the last character: a text begins and ends like a line. */
export const EDGE = 10;
