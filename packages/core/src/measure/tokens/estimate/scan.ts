import {
  CJK,
  codeAt,
  DIGIT,
  EDGE,
  KIND,
  LOWER,
  PUNCTUATION,
  SURROGATE,
  SYMBOL_OF,
  SYMBOLS,
  UPPER,
} from "./characters.ts";
import * as layout from "./learned-tables.ts";
import {
  type LearnedTables,
  type PackedTables,
  scramble,
  unpackTables,
  WEIGHT_UNIT,
} from "./learned-tables.ts";

/**
 * We have our own estimator because the best published one (tokenx) is off by 73% on base64 and reads only 8
 * MB/s. An exact tokenizer needs a vocabulary of several megabytes. See docs/design/0002-token-estimator.md
 * for the measurements.
 */

/** Longest text, in characters, that is read completely. Longer texts are sampled. */
export const READ_WHOLE = 12_288;
/** Beyond READ_WHOLE, one of this many characters is read. */
const SAMPLED_PART = 7;
/** Characters per sample. Many small samples cover more of a mixed text than a few large ones. */
const SAMPLE = 64;
/** Maximum number of characters to search for the end of a word. Base64 has no word ends. */
const LONGEST_SEARCH = 24;

/** Creates the estimator of one vocabulary. Unpacks its tables on first use, and keeps them unchanged. */
export function createEstimator(packed: PackedTables): (text: string) => number {
  let tables: LearnedTables | undefined;
  return (text) => {
    if (text.length === 0) return 0;
    tables ??= unpackTables(packed);
    return Math.max(1, Math.round(costOf(text, tables) / WEIGHT_UNIT));
  };
}

/**
 * Reads short texts completely and samples long ones, so a megabyte of tool output costs a fraction of a full
 * read. The text is divided into equal parts, each with one small sample at a random offset. Samples at equal
 * distances would hit the same column in every line of equal length.
 */
function costOf(text: string, tables: LearnedTables): number {
  const { length } = text;
  const cursor: Cursor = { length, at: 0, last: EDGE, secondLast: EDGE, noise: 0, known: 1 };
  if (length <= READ_WHOLE) return scanUntil(text, length, cursor, tables);
  const wanted = READ_WHOLE + (length - READ_WHOLE) / SAMPLED_PART;
  const stretches = Math.ceil(wanted / SAMPLE);
  const stretch = length / stretches;
  let jitter = length;
  let density = 0;
  for (let index = 0; index < stretches; index++) {
    jitter = scramble(jitter);
    const offset = (stretch - SAMPLE) * (jitter / 2 ** 32);
    moveToRun(text, Math.round(index * stretch + offset), cursor);
    const from = cursor.at;
    const cost = readSample(text, cursor, tables);
    density += cost / Math.max(1, cursor.at - from);
  }
  return (density / stretches) * length;
}

/**
 * Reads a sample up to the end of a word, because the sample also begins after a word. Otherwise samples
 * would contain too few words.
 */
function readSample(text: string, cursor: Cursor, tables: LearnedTables): number {
  let cost = scanUntil(text, Math.min(cursor.at + SAMPLE, cursor.length), cursor, tables);
  const stop = cursor.at + LONGEST_SEARCH;
  while (cursor.at < stop && isWordLike(text, cursor.at))
    cost += scanUntil(text, cursor.at + 1, cursor, tables);
  return cost;
}

/** Moves the cursor to the start of a run, so that half a word is not read as a whole one. */
function moveToRun(text: string, from: number, cursor: Cursor): void {
  let at = from;
  const limit = from + LONGEST_SEARCH;
  while (at < limit && isWordLike(text, at)) at++;
  cursor.at = Math.min(at, cursor.length - 1);
  cursor.last = symbolAt(text, cursor.at - 1);
  cursor.secondLast = symbolAt(text, cursor.at - 2);
}

function isWordLike(text: string, at: number): boolean {
  if (at >= text.length) return false;
  const kind = KIND[codeAt(text, at)] ?? 0;
  return kind !== PUNCTUATION && kind <= DIGIT;
}

function symbolAt(text: string, at: number): number {
  return at < 0 ? EDGE : (SYMBOL_OF[codeAt(text, at)] ?? 0);
}

// The scanner makes one pass over a text, run by run, and adds up the likely cost of each run. Tokenizers
// first cut a text into words, numbers, punctuation and blanks, and then look for the largest known parts of
// each. The scanner cuts in the same way, but looks the cost up in small tables instead of searching.

/** Position of the scanner and its short memory of the characters before it. */
export interface Cursor {
  /** Length of the text. */
  readonly length: number;
  at: number;
  /** Symbols of the previous character and of the one before it. */
  last: number;
  secondLast: number;
  /** Number of short pieces in a row. Base64, hashes and ids contain many of them, identifiers do not. */
  noise: number;
  /**
   * 1 after a known word, otherwise 0. Unknown words occur in groups, as in foreign languages and lists of
   * names.
   */
  known: number;
}

const SPACE = 32;
const NEWLINE = 10;
const SHORT_PIECE = 3;
const NOISY_PIECES = 2;
/** Maximum length of a run, so that a megabyte of digits does not delay a sample of a hundred characters. */
const LONGEST_RUN = 90;

// The loop below runs once per character, so it uses module constants instead of properties.
const { LETTER_BUCKETS, LETTER_CODE, LETTER_MASK, LETTER_SHIFT, WORD_END, WORD_START_AT } = layout;
const { DIGIT_GROUP, DIGITS_AT, KNOWN_WORD_AT, LONG_RUN_AT, PUNCTUATION_AT } = layout;

/**
 * Offset of the letter contexts to use. The index combines three facts: the noise, whether the last word was
 * known, and the preceding symbol.
 */
const MANNER: Uint16Array = Uint16Array.from({ length: (NOISY_PIECES + 1) * 2 * SYMBOLS }, (_, index) => {
  const [noise, known, lead] = [index >> 8, (index >> 7) & 1, index & 127];
  if (noise === NOISY_PIECES) return 3 * LETTER_BUCKETS;
  if (lead !== SPACE && lead !== NEWLINE) return 2 * LETTER_BUCKETS;
  return known === 1 ? 0 : LETTER_BUCKETS;
});

/** Greek and Cyrillic have separate contexts, because weights of Latin letters do not apply to them. */
const NOT_LATIN = 4 * LETTER_BUCKETS;

/** `+ - / _` occur in base64 and in ids, so they do not reset the noise. */
const KEEPS_NOISE: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  "+-/_".includes(String.fromCharCode(code)) ? 3 : 0,
);

/**
 * Adds up the cost of the runs that begin between the cursor and `end`. Leaves the cursor after the last of
 * them.
 */
export function scanUntil(text: string, end: number, cursor: Cursor, tables: LearnedTables): number {
  const { weights } = tables;
  let cost = 0;
  while (cursor.at < end) {
    const code = codeAt(text, cursor.at);
    const kind = KIND[code] ?? 0;
    if (kind === PUNCTUATION) cost += readPunctuation(text, code, cursor, weights);
    else if (kind <= UPPER) cost += readWord(text, code, kind, cursor, tables);
    else if (kind === DIGIT) cost += readDigits(text, cursor, weights);
    else if (kind === CJK) cost += readCjk(text, cursor, tables);
    else if (kind === SURROGATE) cost += readAstral(text, cursor, weights);
    else cost += readSymbol(text, code, cursor, weights);
  }
  return cost;
}

function readPunctuation(text: string, code: number, cursor: Cursor, weights: Uint16Array): number {
  const { last, at } = cursor;
  const next = at + 1 < cursor.length ? codeAt(text, at + 1) : EDGE;
  const inRun = code === last && code === cursor.secondLast && code === next;
  const bucket = layout.punctuationBucket(cursor.secondLast, last, code, SYMBOL_OF[next] ?? 0);
  cursor.noise &= KEEPS_NOISE[code] ?? 0;
  cursor.secondLast = last;
  cursor.last = code;
  cursor.at = at + 1;
  return weights[inRun ? LONG_RUN_AT + code : PUNCTUATION_AT + bucket] ?? 0;
}

function readWord(
  text: string,
  first: number,
  firstKind: number,
  cursor: Cursor,
  tables: LearnedTables,
): number {
  const { at: start, last: lead, noise } = cursor;
  let hash = layout.stepWord(0, first);
  let kind = firstKind;
  let code = first;
  let at = start + 1;
  const limit = Math.min(start + LONGEST_RUN, cursor.length);
  for (; at < limit; at++) {
    const next = codeAt(text, at);
    const nextKind = KIND[next] ?? 0;
    // A capital after a small letter begins a new word, as it does for the tokenizer.
    if (nextKind === PUNCTUATION || nextKind > kind) break;
    kind = nextKind;
    code = next;
    hash = layout.stepWord(hash, code);
  }
  const known = tables.words[layout.placeInSet(hash)] ?? 0;
  const cost =
    known === 1
      ? (tables.weights[KNOWN_WORD_AT + lead] ?? 0)
      : costOfLetters(text, first, at, cursor, tables);
  if (at - start <= SHORT_PIECE && lead <= DIGIT && noise < NOISY_PIECES) cursor.noise = noise + 1;
  cursor.known = known;
  cursor.secondLast = LOWER;
  cursor.last = SYMBOL_OF[code] ?? 0;
  cursor.at = at;
  return cost;
}

/**
 * Returns the cost of a word of several tokens, from the cursor to `end`. The cost of each letter depends on
 * the letters before it.
 */
function costOfLetters(
  text: string,
  first: number,
  end: number,
  cursor: Cursor,
  tables: LearnedTables,
): number {
  const { weights } = tables;
  const { at: start, last: lead, noise, known } = cursor;
  const letters =
    first < layout.FIRST_NOT_LATIN ? (MANNER[(noise << 8) | (known << 7) | lead] ?? 0) : NOT_LATIN;
  let context = ((LETTER_CODE[WORD_START_AT + lead] ?? 0) << LETTER_SHIFT) ^ (LETTER_CODE[first] ?? 0);
  let cost = 0;
  for (let at = start + 1; at < end; at++) {
    context = ((context << LETTER_SHIFT) ^ (LETTER_CODE[codeAt(text, at)] ?? 0)) & LETTER_MASK;
    cost += weights[letters + context] ?? 0;
  }
  return cost + (weights[letters + (((context << LETTER_SHIFT) ^ WORD_END) & LETTER_MASK)] ?? 0);
}

function readDigits(text: string, cursor: Cursor, weights: Uint16Array): number {
  const { at: start, last: lead, noise } = cursor;
  let at = start + 1;
  const limit = Math.min(start + LONGEST_RUN, cursor.length);
  while (at < limit && KIND[codeAt(text, at)] === DIGIT) at++;
  const length = at - start;
  if (length <= SHORT_PIECE && (lead === LOWER || lead === UPPER) && noise < NOISY_PIECES)
    cursor.noise = noise + 1;
  cursor.secondLast = DIGIT;
  cursor.last = DIGIT;
  cursor.at = at;
  const whole = Math.floor(length / DIGIT_GROUP);
  return whole * (weights[DIGITS_AT + DIGIT_GROUP] ?? 0) + (weights[DIGITS_AT + (length % DIGIT_GROUP)] ?? 0);
}

/** Reads CJK characters. A character that continues a known run costs nothing. */
function readCjk(text: string, cursor: Cursor, tables: LearnedTables): number {
  const { weights, cjk } = tables;
  let at = cursor.at;
  const afterSpace = cursor.last === SPACE;
  let hash = afterSpace ? layout.stepCjk(0, SPACE) : 0;
  let depth = afterSpace ? 1 : 0;
  let cost = 0;
  let code = 0;
  const limit = Math.min(at + LONGEST_RUN, cursor.length);
  for (; at < limit; at++) {
    const next = codeAt(text, at);
    if (KIND[next] !== CJK) break;
    code = next;
    const script = layout.CJK_AT + layout.cjkScript(code) * layout.CJK_DEPTHS;
    const longer = layout.stepCjk(hash, code);
    if (depth > 0 && cjk[layout.placeInSet(longer)] === 1) {
      hash = longer;
      depth = Math.min(depth + 1, layout.CJK_DEPTHS - 1);
      cost += weights[script + depth] ?? 0;
      continue;
    }
    hash = layout.stepCjk(0, code);
    depth = cjk[layout.placeInSet(hash)] ?? 0;
    cost += weights[depth === 1 ? script : layout.BLOCKS_AT + (code >> 6)] ?? 0;
  }
  moveTo(cursor, at, code);
  return cost;
}

function readSymbol(text: string, code: number, cursor: Cursor, weights: Uint16Array): number {
  const at = cursor.at;
  moveTo(cursor, at + 1, code);
  if (code >= layout.FIRST_SIGN && at > 0 && codeAt(text, at - 1) === code)
    return weights[layout.REPEATED_SYMBOL_AT] ?? 0;
  return weights[layout.symbolSlot(code)] ?? 0;
}

/** Reads a character above code 65,535. Only emoji are distinguished. */
function readAstral(text: string, cursor: Cursor, weights: Uint16Array): number {
  const { at, last } = cursor;
  const point = text.codePointAt(at) ?? 0;
  const whole = point >= 0x10000;
  moveTo(cursor, whole ? at + 2 : at + 1, codeAt(text, at));
  if (!whole) return weights[layout.LONE_SURROGATE_AT] ?? 0;
  const emoji = point - layout.EMOJI_FIRST;
  if (emoji < 0 || emoji >= layout.EMOJI_COUNT) return weights[layout.OTHER_ASTRAL_AT] ?? 0;
  const cost = weights[layout.EMOJI_AT + emoji] ?? 0;
  return last === SPACE ? (cost * (weights[layout.AFTER_SPACE_AT] ?? 0)) / WEIGHT_UNIT : cost;
}

/** Moves past a non-ASCII character and resets the memory of words. */
function moveTo(cursor: Cursor, at: number, lastCode: number): void {
  cursor.at = at;
  cursor.secondLast = cursor.last;
  cursor.last = SYMBOL_OF[lastCode] ?? 0;
  cursor.noise = 0;
  cursor.known = 1;
}
