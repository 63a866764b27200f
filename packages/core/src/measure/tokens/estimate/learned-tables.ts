import { SYMBOLS } from "./characters.ts";

/**
 * Layout of the learned weights in a profile's flat table, and the hashes that index it. The scanner and the
 * training script share this file, so a weight is always read from the slot where it was learned.
 */

/** Hashes a number, so that neighboring codes have distant places in the tables. */
export function scramble(value: number): number {
  let bits = Math.imul(value + 1, 0x9e3779b1);
  bits = Math.imul(bits ^ (bits >>> 15), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/**
 * Number of letter contexts. A context covers about the last two and a half letters. Each word class has its
 * own 2^11 buckets.
 */
export const LETTER_BUCKETS: number = 1 << 11;
export const LETTER_MASK: number = LETTER_BUCKETS - 1;
/**
 * Number of bits that the context shifts with each letter. With 5 of 11 bits, only the last three letters
 * matter.
 */
export const LETTER_SHIFT = 5;
/**
 * Number of word classes. The classes are: words after a space in known text, words after a space in unknown
 * text, words attached to something, noise, and words that are not Latin.
 */
const WORD_CLASSES = 5;
/**
 * First letter that is not Latin. Vietnamese letters have higher codes, but treating them as other letters
 * does no harm.
 */
export const FIRST_NOT_LATIN = 0x370;
/** From this code on, symbols are signs that repeat (dashes, arrows, boxes), not letters of other scripts. */
export const FIRST_SIGN = 0x2000;

const PUNCTUATION_BUCKETS: number = 1 << 12;
const PUNCTUATION_MASK = PUNCTUATION_BUCKETS - 1;

/**
 * Digit runs have a separate weight for each length up to this one. Longer runs count as groups of this
 * length.
 */
export const DIGIT_GROUP = 9;

/** Number of match depths with separate weights for CJK characters. See `cjkScript` for the six scripts. */
export const CJK_DEPTHS = 5;
const CJK_SCRIPTS = 6;

export const EMOJI_FIRST = 0x1f000;
export const EMOJI_COUNT = 0xc00;
const LATIN_SYMBOLS = 0x40;
const GENERAL_SYMBOLS = 0x800;
const VARIATION_SELECTORS = 0x10;
/**
 * All other characters share weights in blocks of 64. Characters of a block have the same UTF-8 lead bytes
 * and mostly the same cost.
 */
const UNIT_BLOCKS = 0x10000 >> 6;

export const LETTERS_AT = 0;
export const PUNCTUATION_AT: number = LETTERS_AT + WORD_CLASSES * LETTER_BUCKETS;
export const KNOWN_WORD_AT: number = PUNCTUATION_AT + PUNCTUATION_BUCKETS;
export const DIGITS_AT: number = KNOWN_WORD_AT + SYMBOLS;
export const CJK_AT: number = DIGITS_AT + DIGIT_GROUP + 1;
export const BLOCKS_AT: number = CJK_AT + CJK_SCRIPTS * CJK_DEPTHS;
const SYMBOLS_AT: number = BLOCKS_AT + UNIT_BLOCKS;
export const EMOJI_AT: number = SYMBOLS_AT + LATIN_SYMBOLS + GENERAL_SYMBOLS + VARIATION_SELECTORS;
/** Factor for an emoji after a space. Part of the emoji's bytes belongs to the token of the space. */
export const AFTER_SPACE_AT: number = EMOJI_AT + EMOJI_COUNT;
export const REPEATED_SYMBOL_AT: number = AFTER_SPACE_AT + 1;
export const LONE_SURROGATE_AT: number = REPEATED_SYMBOL_AT + 1;
export const OTHER_ASTRAL_AT: number = LONE_SURROGATE_AT + 1;
/**
 * Weights of a mark or blank in a run of at least four. The index is the code of the character. Rules,
 * indents and blank lines are nearly free.
 */
export const LONG_RUN_AT: number = OTHER_ASTRAL_AT + 1;
export const WEIGHTS: number = LONG_RUN_AT + SYMBOLS;

/** Letters of all alphabets are below this code. The codes from here on mark the start and end of a word. */
const LETTER_CODES = 0x2000;
export const LETTER_CODE: Uint16Array = Uint16Array.from(
  { length: LETTER_CODES + SYMBOLS + 1 },
  (_, code) => scramble(code) & LETTER_MASK,
);
export const WORD_START_AT: number = LETTER_CODES;
export const WORD_END: number = scramble(LETTER_CODES + SYMBOLS) & LETTER_MASK;

/**
 * A hash set is a bitmap with 2^18 places. With ten thousand members, 4% of the lookups are false positives.
 */
export const SET_BITS = 18;

export function stepWord(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193) ^ (hash >>> 15);
}

export function stepCjk(hash: number, code: number): number {
  const mixed = Math.imul(hash ^ code, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

export function placeInSet(hash: number): number {
  return Math.imul(hash, 0x85ebca6b) >>> (32 - SET_BITS);
}

const LETTERISH = 8;

/** Reduces the next symbol to its class, because its exact value matters less. */
function wordClassOfNext(symbol: number): number {
  if (symbol < LETTERISH || symbol === 10 || symbol === 32) return symbol;
  return symbol < 32 ? 8 : 33;
}

function wordClassOfSecondLast(symbol: number): number {
  if (symbol < LETTERISH) return symbol === 3 ? 3 : 1;
  return symbol === 10 || symbol === 32 ? symbol : 33;
}

const salted = (salt: number, manner: (symbol: number) => number): Uint16Array =>
  Uint16Array.from({ length: SYMBOLS }, (_, symbol) => scramble(salt + manner(symbol)) & PUNCTUATION_MASK);

const SECOND_LAST = salted(0x5000, wordClassOfSecondLast);
const LAST = salted(0x5100, (symbol) => symbol);
const CURRENT = salted(0x5200, (symbol) => symbol);
const NEXT = salted(0x5300, wordClassOfNext);

/** Computes the bucket of a punctuation mark or blank from its neighbors. All arguments are symbols. */
export function punctuationBucket(secondLast: number, last: number, current: number, next: number): number {
  return (
    ((SECOND_LAST[secondLast] ?? 0) ^ (LAST[last] ?? 0) ^ (CURRENT[current] ?? 0) ^ (NEXT[next] ?? 0)) &
    PUNCTUATION_MASK
  );
}

/**
 * Returns the number of a CJK character's script: punctuation, hiragana, katakana, Han, Hangul or full-width
 * forms. Each script has its own weights, because tokenizers merge the characters of each script differently.
 */
export function cjkScript(code: number): number {
  if (code < 0x3040) return 0;
  if (code < 0x30a0) return 1;
  if (code < 0x3100) return 2;
  if (code < 0xac00) return 3;
  return code < 0xd7b0 ? 4 : 5;
}

export function symbolSlot(code: number): number {
  if (code < 0xc0) return SYMBOLS_AT + code - 0x80;
  if (code >= 0x2000 && code < 0x2800) return SYMBOLS_AT + LATIN_SYMBOLS + code - 0x2000;
  if (code >= 0xfe00 && code < 0xfe10) return SYMBOLS_AT + LATIN_SYMBOLS + GENERAL_SYMBOLS + code - 0xfe00;
  return BLOCKS_AT + (code >> 6);
}

/** Tables that the training script learned from a vocabulary. */
export interface LearnedTables {
  /** Cost per feature in WEIGHT_UNITs, indexed by the slots above. */
  readonly weights: Uint16Array;
  /** One byte for each place of a hash set. The byte is 1 if the word is a single token. */
  readonly words: Uint8Array;
  /**
   * One byte for each place of a hash set. The byte is 1 if the run of CJK characters occurs within a token.
   */
  readonly cjk: Uint8Array;
}

/**
 * The same tables as text. Each weight is one letter. Each set is written as the gaps between its members.
 */
export type PackedTables = Readonly<Record<keyof LearnedTables, string>>;

export const unpackTables = ({ weights, words, cjk }: PackedTables): LearnedTables => ({
  weights: unpackWeights(weights),
  words: unpackSet(words),
  cjk: unpackSet(cjk),
});

/** Number of weight units per token. Weights are integers, because adding integers is fast. */
export const WEIGHT_UNIT = 4096;

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUE_OF: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  Math.max(0, DIGITS.indexOf(String.fromCharCode(code))),
);
const LARGEST_DIGIT = 63;
/** Repeat marker in packed weights. The next two digits say how often the weight before it repeats. */
export const REPEAT_MARK = "!";

/** Levels 0 to 48 cover 0 to 1 tokens. They are dense at both ends, where most features are. */
const UNIT_LEVELS = 48;
const COARSE_STEP = 0.25;

export function weightOfLevel(level: number): number {
  if (level > UNIT_LEVELS) return 1 + (level - UNIT_LEVELS) * COARSE_STEP;
  return Math.sin((Math.PI / 2) * (level / UNIT_LEVELS)) ** 2;
}

export function unpackWeights(packed: string): Uint16Array {
  const weights = new Uint16Array(WEIGHTS);
  const digit = (index: number): number => VALUE_OF[packed.charCodeAt(index)] ?? 0;
  let slot = 0;
  for (let index = 0; index < packed.length; index++) {
    if (packed[index] === REPEAT_MARK) {
      const end = slot + digit(index + 1) * 64 + digit(index + 2);
      weights.fill(weights[slot - 1] ?? 0, slot, end);
      slot = end;
      index += 2;
    } else {
      weights[slot++] = Math.round(weightOfLevel(digit(index)) * WEIGHT_UNIT);
    }
  }
  return weights;
}

function unpackSet(packed: string): Uint8Array {
  const places = new Uint8Array(1 << SET_BITS);
  let place = -1;
  for (let index = 0; index < packed.length; index++) {
    const gap = VALUE_OF[packed.charCodeAt(index)] ?? 0;
    place += gap;
    if (gap < LARGEST_DIGIT) places[++place] = 1;
  }
  return places;
}
