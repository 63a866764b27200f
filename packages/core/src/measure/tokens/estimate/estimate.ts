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
import { type LearnedTables, scramble, unpackTables, WEIGHT_UNIT } from "./learned-tables.ts";
import { PACKED_TABLES } from "./packed-tables.ts";

/**
 * Our own estimator: the best published one (tokenx) is off by 73% on base64 and reads 8 MB/s, and an exact tokenizer
 * needs a vocabulary of megabytes. docs/design/0002-token-estimator.md has the measurements.
 */

/** The vocabulary to estimate for: OpenAI's current one, or the one Anthropic last published. */
export type TokenProfile = keyof typeof PACKED_TABLES;

/** Characters that are read in any case; up to here an estimate is not sampled at all. */
export const READ_WHOLE = 12_288;
/** Of what is beyond, one part in this many is read. */
const SAMPLED_PART = 7;
/** Characters per sample: many small samples see more of a mixed text than few large ones. */
const SAMPLE = 64;
/** How far to look for the end of a word; base64 has none. */
const LONGEST_SEARCH = 24;

/**
 * How many tokens a text is likely to be, at a few nanoseconds per character and without a vocabulary:
 * within 10% of the exact count for prose, code, data, logs, base64 and the larger scripts. Never below 1,
 * except for the empty text.
 */
export function estimateTokens(text: string, profile: TokenProfile = "o200k"): number {
  if (text.length === 0) return 0;
  // Unpacked when first asked for, since most programs ask for one profile only; never changed after that.
  unpacked[profile] ??= unpackTables(PACKED_TABLES[profile]);
  return Math.max(1, Math.round(costOf(text, unpacked[profile]) / WEIGHT_UNIT));
}

const unpacked: Partial<Record<TokenProfile, LearnedTables>> = {};

/**
 * Reads short texts whole and long ones in fair samples. What is skipped costs nothing, so that counting a
 * megabyte of tool output takes a fraction of what reading it would. The text is
 * divided into equal stretches and each is judged by a small sample from a place of its own: with samples at
 * equal distances, lines of equal length would show the same column every time.
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

/** Ends as it begins, before something that is no word; otherwise samples would hold too few words. */
function readSample(text: string, cursor: Cursor, tables: LearnedTables): number {
  let cost = scanUntil(text, Math.min(cursor.at + SAMPLE, cursor.length), cursor, tables);
  const stop = cursor.at + LONGEST_SEARCH;
  while (cursor.at < stop && isWordLike(text, cursor.at))
    cost += scanUntil(text, cursor.at + 1, cursor, tables);
  return cost;
}

/** Puts the cursor where a run begins, lest half a word be taken for one. */
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

// The scanner makes one pass over a text, run by run, and adds up the likely cost of each run. Tokenizers first cut a
// text into words, numbers, punctuation and blanks and then look for the largest known parts of each. The scanner cuts
// likewise, but asks small tables instead of searching.

/** Position of the scanner, and the little it remembers of what it has passed. */
export interface Cursor {
  /** Of the text. */
  readonly length: number;
  at: number;
  /** Symbols of the last character passed and of the one before it. */
  last: number;
  secondLast: number;
  /** Short pieces glued together so far: base64, hashes and ids are full of them, identifiers are not. */
  noise: number;
  /** 1 after a known word. Strange words come together: foreign languages, lists of names. */
  known: number;
}

const SPACE = 32;
const NEWLINE = 10;
const SHORT_PIECE = 3;
const NOISY_PIECES = 2;
/** No run is followed further than this: a megabyte of digits must not hold up a sample of a hundred. */
const LONGEST_RUN = 90;

// The loop below runs once per character, so what it needs is at hand: module constants, not properties.
const { LETTER_BUCKETS, LETTER_CODE, LETTER_MASK, LETTER_SHIFT, WORD_END, WORD_START_AT } = layout;
const { DIGIT_GROUP, DIGITS_AT, KNOWN_WORD_AT, LONG_RUN_AT, PUNCTUATION_AT } = layout;

/** The letter contexts to use, by noise, by knownness of the last word, and by the symbol before this one. */
const MANNER: Uint16Array = Uint16Array.from({ length: (NOISY_PIECES + 1) * 2 * SYMBOLS }, (_, index) => {
  const [noise, known, lead] = [index >> 8, (index >> 7) & 1, index & 127];
  if (noise === NOISY_PIECES) return 3 * LETTER_BUCKETS;
  if (lead !== SPACE && lead !== NEWLINE) return 2 * LETTER_BUCKETS;
  return known === 1 ? 0 : LETTER_BUCKETS;
});

/** Greek and Cyrillic have contexts of their own: what holds for Latin letters says nothing about them. */
const NOT_LATIN = 4 * LETTER_BUCKETS;

/** `+ - / _` belong to the alphabets of base64 and of ids, so they do not end a stretch of noise. */
const KEEPS_NOISE: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  "+-/_".includes(String.fromCharCode(code)) ? 3 : 0,
);

/** Cost of the runs that begin at the cursor and before `end`; leaves the cursor after the last of them. */
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

/** A word that is no token as a whole, from the cursor up to `end`: letter by letter, by what stands before each. */
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

/** Follows the longest known runs of characters, as far as hashes tell: a run that goes on costs nothing. */
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

/** Characters beyond the first 65,536, of which only the emoji are told apart. */
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

/** Goes on behind something that is not ASCII: what was remembered of words does not hold there. */
function moveTo(cursor: Cursor, at: number, lastCode: number): void {
  cursor.at = at;
  cursor.secondLast = cursor.last;
  cursor.last = SYMBOL_OF[lastCode] ?? 0;
  cursor.noise = 0;
  cursor.known = 1;
}
