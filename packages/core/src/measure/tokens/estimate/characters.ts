/**
 * Character tables of the scanner. One table has the type of run to which a UTF-16 unit belongs. The other
 * table has the symbol of the unit as a neighbor of another character. Both are built once from ranges. A
 * regular expression with Unicode properties has the same result but takes a thousand times longer per
 * character.
 */

const { charCodeAt } = String.prototype;

/**
 * Returns the same as `text.charCodeAt(at)`, at the same speed for every string. Engines have many string
 * representations (slices, concatenations, one and two bytes). A call site that meets more than four of them
 * becomes slow.
 */
export const codeAt = (text: string, at: number): number => charCodeAt.call(text, at);

/** Types of runs that make up a text. The order matters: LOWER and UPPER are the letters. */
export const PUNCTUATION = 0;
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
export const CJK = 4;
const SYMBOL = 5;
export const SURROGATE = 6;

/**
 * Symbols for characters other than ASCII punctuation. The symbol of an ASCII punctuation mark is its code.
 */
const LETTER_SYMBOL = { latin: 4, modifier: 5, greekCyrillic: 6 } as const;
const CJK_SYMBOL = { punctuation: 8, kana: 11, han: 12, hangul: 14, fullwidth: 15 } as const;
const SYMBOL_SYMBOL = {
  otherScript: 7,
  surrogate: 16,
  generalPunctuation: 17,
  arrowsAndBoxes: 18,
  rest: 19,
} as const;

/**
 * Returns true for Latin, Greek and Cyrillic, the alphabets whose words are in the vocabularies. Other
 * scripts are measured by block.
 */
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

/** From this code on, every row of the code charts has a single type. */
const ROWS_FROM = 0x2000;
const ROW = 16;

/**
 * Creates the table. Fills a whole row at once if it has a single type, because this runs whenever the
 * library loads.
 */
function tabulate(entryFor: (code: number) => number): Uint8Array {
  const table = new Uint8Array(UNITS);
  for (let code = 0; code < ROWS_FROM; code++) table[code] = entryFor(code);
  for (let code = ROWS_FROM; code < UNITS; code += ROW) table.fill(entryFor(code), code, code + ROW);
  return table;
}

/** Run type of every UTF-16 unit. Never written after this module has loaded. */
export const KIND: Uint8Array = tabulate(kindOf);

/** Symbol of every UTF-16 unit. Never written after this module has loaded. */
export const SYMBOL_OF: Uint8Array = tabulate((code) => symbolOf(code, KIND[code] ?? 0));

/** Number of symbols: one per ASCII code. Low control codes are used for the classes above. */
export const SYMBOLS = 128;

/**
 * Symbol before the first character and after the last one. It is a line end, because a text begins and ends
 * like a line.
 */
export const EDGE = 10;
