/**
 * One pass over a text, run by run, adding up what each run is likely to cost. Tokenizers first cut a text
 * into words, numbers, punctuation and blanks and then look for the largest known parts of each; the scanner
 * cuts likewise, but asks small tables instead of searching.
 */
import { CJK, DIGIT, EDGE, KIND, LOWER, PUNCTUATION, SURROGATE, SYMBOL_OF, UPPER } from "./characters.ts";
import * as layout from "./layout.ts";
import type { Model } from "./model.ts";

/** Where the scanner is, and the little it remembers of what it has passed. */
interface Cursor {
  at: number;
  /** Short pieces glued together so far: base64, hashes and ids are full of them, identifiers are not. */
  noise: number;
  /** Was the last word a known one? Strange words come together: foreign languages, lists of names. */
  known: boolean;
}

const SPACE = 32;
const NEWLINE = 10;
const SHORT_PIECE = 3;
const NOISY_PIECES = 2;

export function scan(text: string, model: Model): number {
  const cursor: Cursor = { at: 0, noise: 0, known: true };
  let cost = 0;
  while (cursor.at < text.length) {
    const kind = KIND[text.charCodeAt(cursor.at)] ?? 0;
    if (kind === PUNCTUATION) cost += readPunctuation(text, cursor, model.weights);
    else if (kind <= UPPER) cost += readWord(text, cursor, model);
    else if (kind === DIGIT) cost += readDigits(text, cursor, model.weights);
    else if (kind === CJK) cost += readCjk(text, cursor, model);
    else if (kind === SURROGATE) cost += readAstral(text, cursor, model.weights);
    else cost += readSymbol(text, cursor, model.weights);
  }
  return cost;
}

/** The symbol at an index, or that of a line's edge outside of the text. */
function symbolAt(text: string, index: number): number {
  return index >= 0 && index < text.length ? (SYMBOL_OF[text.charCodeAt(index)] ?? 0) : EDGE;
}

function manner(cursor: Cursor, lead: number): number {
  if (cursor.noise >= NOISY_PIECES) return 3;
  if (lead !== SPACE && lead !== NEWLINE) return 2;
  return cursor.known ? 0 : 1;
}

/** A word ends before a capital that follows a small letter, as it does for the tokenizer. */
function readWord(text: string, cursor: Cursor, model: Model): number {
  const { weights } = model;
  const start = cursor.at;
  const lead = symbolAt(text, start - 1);
  const letters = layout.LETTERS_AT + manner(cursor, lead) * layout.LETTER_BUCKETS;
  let code = text.charCodeAt(start);
  const ascii = code < 0x80;
  let kind = KIND[code] ?? 0;
  let seenLower = kind === LOWER;
  let hash = layout.stepWord(0, code);
  let context =
    ((layout.LETTER_CODE[layout.WORD_START_AT + lead] ?? 0) << layout.LETTER_SHIFT) ^
    (layout.LETTER_CODE[code] ?? 0);
  let cost = 0;
  let at = start + 1;
  for (; at < text.length; at++) {
    code = text.charCodeAt(at);
    kind = KIND[code] ?? 0;
    if (kind === LOWER) seenLower = true;
    else if (kind !== UPPER || seenLower) break;
    hash = layout.stepWord(hash, code);
    context = ((context << layout.LETTER_SHIFT) ^ (layout.LETTER_CODE[code] ?? 0)) & layout.LETTER_MASK;
    cost += weights[letters + context] ?? 0;
  }
  cursor.at = at;
  const length = at - start;
  if (length <= SHORT_PIECE && lead <= DIGIT) cursor.noise++;
  cursor.known = length === 1 || (ascii && model.words[layout.placeInSet(hash)] === 1);
  if (cursor.known && length > 1) return weights[layout.KNOWN_WORD_AT + lead] ?? 0;
  const last = ((context << layout.LETTER_SHIFT) ^ layout.WORD_END) & layout.LETTER_MASK;
  return cost + (weights[letters + last] ?? 0);
}

function readDigits(text: string, cursor: Cursor, weights: Float32Array): number {
  const start = cursor.at;
  let at = start + 1;
  while (at < text.length && KIND[text.charCodeAt(at)] === DIGIT) at++;
  cursor.at = at;
  const length = at - start;
  const lead = symbolAt(text, start - 1);
  if (length <= SHORT_PIECE && (lead === LOWER || lead === UPPER)) cursor.noise++;
  const longest = layout.LONGEST_DIGIT_RUN;
  if (length <= longest) return weights[layout.DIGITS_AT + length] ?? 0;
  return ((weights[layout.DIGITS_AT + longest] ?? 0) * length) / longest;
}

/** These marks belong to the alphabets of base64 and of ids, so they do not end a stretch of noise. */
function keepsNoise(code: number): boolean {
  return code === 43 || code === 45 || code === 47 || code === 95;
}

function readPunctuation(text: string, cursor: Cursor, weights: Float32Array): number {
  const at = cursor.at;
  const code = text.charCodeAt(at);
  if (!keepsNoise(code)) cursor.noise = 0;
  cursor.at = at + 1;
  const bucket = layout.punctuationBucket(
    symbolAt(text, at - 2),
    symbolAt(text, at - 1),
    code,
    symbolAt(text, at + 1),
  );
  return weights[layout.PUNCTUATION_AT + bucket] ?? 0;
}

/** Follows the longest known runs of characters, as far as hashes tell: a run that goes on costs nothing. */
function readCjk(text: string, cursor: Cursor, model: Model): number {
  const { weights, cjk } = model;
  let at = cursor.at;
  const afterSpace = at > 0 && text.charCodeAt(at - 1) === SPACE;
  let hash = afterSpace ? layout.stepCjk(0, SPACE) : 0;
  let depth = afterSpace ? 1 : 0;
  let cost = 0;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (KIND[code] !== CJK) break;
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
  cursor.at = at;
  cursor.noise = 0;
  cursor.known = true;
  return cost;
}

function readSymbol(text: string, cursor: Cursor, weights: Float32Array): number {
  const at = cursor.at;
  const code = text.charCodeAt(at);
  cursor.at = at + 1;
  cursor.noise = 0;
  if (at > 0 && text.charCodeAt(at - 1) === code) return weights[layout.REPEATED_SYMBOL_AT] ?? 0;
  return weights[layout.symbolSlot(code)] ?? 0;
}

/** Characters beyond the first 65,536, of which only the emoji are told apart. */
function readAstral(text: string, cursor: Cursor, weights: Float32Array): number {
  const at = cursor.at;
  const point = text.codePointAt(at) ?? 0;
  cursor.noise = 0;
  if (point < 0x10000) {
    cursor.at = at + 1;
    return weights[layout.LONE_SURROGATE_AT] ?? 0;
  }
  cursor.at = at + 2;
  const emoji = point - layout.EMOJI_FIRST;
  if (emoji < 0 || emoji >= layout.EMOJI_COUNT) return weights[layout.OTHER_ASTRAL_AT] ?? 0;
  const before = symbolAt(text, at - 1) === SPACE ? layout.AFTER_SPACE_AT : layout.AFTER_OTHER_AT;
  return (weights[layout.EMOJI_AT + emoji] ?? 0) * (weights[before] ?? 1);
}
