/**
 * Lists the features of a text and their positions, in the same way as the scanner. This file mirrors
 * packages/core/src/measure/tokens/estimate/scan.ts step by step. At the end, train.ts checks that both
 * agree.
 */
import {
  CJK,
  DIGIT,
  EDGE,
  KIND,
  LOWER,
  PUNCTUATION,
  SURROGATE,
  SYMBOL_OF,
  UPPER,
} from "../../packages/core/src/measure/tokens/estimate/characters.ts";
import * as layout from "../../packages/core/src/measure/tokens/estimate/learned-tables.ts";

const SPACE = 32;
const LONGEST_RUN = 90;
const kind = (code: number): number => KIND[code] ?? 0;
const symbol = (code: number): number => SYMBOL_OF[code] ?? 0;

export interface Visitor {
  /**
   * Counts one occurrence of this feature. The feature accounts for the tokens that begin between the
   * positions `from` and `to`.
   */
  feature(slot: number, from: number, to: number, factor: number): void;
  /** Reports a word before it is looked up in the table. */
  word?(hash: number, from: number, to: number): void;
}

export interface Sets {
  readonly words: Uint8Array;
  readonly cjk: Uint8Array;
}

interface State {
  at: number;
  last: number;
  secondLast: number;
  noise: number;
  known: number;
}

/**
 * Reports the features of a text to the visitor. `afterSpace` is the factor for an emoji after a space.
 * Training learns this factor first.
 */
export function visitFeatures(text: string, sets: Sets, visitor: Visitor, afterSpace = 1): void {
  const state: State = { at: 0, last: EDGE, secondLast: EDGE, noise: 0, known: 1 };
  while (state.at < text.length) {
    const code = text.charCodeAt(state.at);
    const now = kind(code);
    if (now === PUNCTUATION) visitPunctuation(text, code, state, visitor);
    else if (now <= UPPER) visitWord(text, state, sets, visitor);
    else if (now === DIGIT) visitDigits(text, state, visitor);
    else visitOther(text, now, state, sets, visitor, afterSpace);
  }
}

function visitPunctuation(text: string, code: number, state: State, visitor: Visitor): void {
  const { at, last, secondLast } = state;
  const next = at + 1 < text.length ? text.charCodeAt(at + 1) : EDGE;
  const inRun = code === last && code === secondLast && code === next;
  const bucket = layout.punctuationBucket(secondLast, last, code, symbol(next));
  visitor.feature(inRun ? layout.LONG_RUN_AT + code : layout.PUNCTUATION_AT + bucket, at, at + 1, 1);
  if (!"+-/_".includes(String.fromCharCode(code))) state.noise = 0;
  Object.assign(state, { at: at + 1, last: code, secondLast: last });
}

function visitWord(text: string, state: State, sets: Sets, visitor: Visitor): void {
  const { at: start, last: lead, noise } = state;
  const first = text.charCodeAt(start);
  let end = start;
  let [hash, seen] = [0, kind(first)];
  for (; end < Math.min(start + LONGEST_RUN, text.length); end++) {
    const next = kind(text.charCodeAt(end));
    if (next === PUNCTUATION || next > seen) break;
    seen = next;
    hash = layout.stepWord(hash, text.charCodeAt(end));
  }
  visitor.word?.(hash, start, end);
  const known = sets.words[layout.placeInSet(hash)] ?? 0;
  if (known === 1) visitor.feature(layout.KNOWN_WORD_AT + lead, start, end, 1);
  else visitLetters(text, start, end, lead, manner(first, lead, state), visitor);
  if (end - start <= 3 && lead <= DIGIT && noise < 2) state.noise = noise + 1;
  Object.assign(state, { at: end, known, secondLast: LOWER, last: symbol(text.charCodeAt(end - 1)) });
}

function manner(first: number, lead: number, state: State): number {
  if (first >= layout.FIRST_NOT_LATIN) return 4;
  if (state.noise === 2) return 3;
  if (lead !== SPACE && lead !== EDGE) return 2;
  return 1 - state.known;
}

function visitLetters(
  text: string,
  start: number,
  end: number,
  lead: number,
  set: number,
  visitor: Visitor,
): void {
  const base = layout.LETTERS_AT + set * layout.LETTER_BUCKETS;
  let context = layout.LETTER_CODE[layout.WORD_START_AT + lead] ?? 0;
  for (let at = start; at <= end; at++) {
    const code = at < end ? (layout.LETTER_CODE[text.charCodeAt(at)] ?? 0) : layout.WORD_END;
    context = ((context << layout.LETTER_SHIFT) ^ code) & layout.LETTER_MASK;
    if (at > start) visitor.feature(base + context, at - 1, at, 1);
  }
}

function visitDigits(text: string, state: State, visitor: Visitor): void {
  const { at: start, last, noise } = state;
  let end = start;
  while (end < Math.min(start + LONGEST_RUN, text.length) && kind(text.charCodeAt(end)) === DIGIT) end++;
  for (let at = start; at < end; at += layout.DIGIT_GROUP) {
    const size = Math.min(layout.DIGIT_GROUP, end - at);
    visitor.feature(layout.DIGITS_AT + size, at, at + size, 1);
  }
  if (end - start <= 3 && (last === LOWER || last === UPPER) && noise < 2) state.noise = noise + 1;
  Object.assign(state, { at: end, last: DIGIT, secondLast: DIGIT });
}

function visitOther(
  text: string,
  now: number,
  state: State,
  sets: Sets,
  visitor: Visitor,
  afterSpace: number,
): void {
  const { at: start, last } = state;
  const code = text.charCodeAt(start);
  let end = start + 1;
  if (now === CJK) end = visitCjk(text, state, sets, visitor);
  else if (now !== SURROGATE) {
    const repeated = code >= layout.FIRST_SIGN && start > 0 && text.charCodeAt(start - 1) === code;
    visitor.feature(repeated ? layout.REPEATED_SYMBOL_AT : layout.symbolSlot(code), start, end, 1);
  } else {
    const point = text.codePointAt(start) ?? 0;
    end = point < 0x10000 ? start + 1 : start + 2;
    const emoji = point - layout.EMOJI_FIRST;
    const isEmoji = emoji >= 0 && emoji < layout.EMOJI_COUNT;
    const slot = point < 0x10000 ? layout.LONE_SURROGATE_AT : layout.OTHER_ASTRAL_AT;
    const factor = isEmoji && last === SPACE ? afterSpace : 1;
    visitor.feature(isEmoji ? layout.EMOJI_AT + emoji : slot, start, end, factor);
  }
  const lastCode = now === CJK ? text.charCodeAt(end - 1) : code;
  Object.assign(state, { at: end, last: symbol(lastCode), secondLast: last, noise: 0, known: 1 });
}

function visitCjk(text: string, state: State, sets: Sets, visitor: Visitor): number {
  let at = state.at;
  let depth = state.last === SPACE ? 1 : 0;
  let hash = depth === 1 ? layout.stepCjk(0, SPACE) : 0;
  const limit = Math.min(at + LONGEST_RUN, text.length);
  for (; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (kind(code) !== CJK) break;
    const script = layout.CJK_AT + layout.cjkScript(code) * layout.CJK_DEPTHS;
    const longer = layout.stepCjk(hash, code);
    if (depth > 0 && sets.cjk[layout.placeInSet(longer)] === 1) {
      hash = longer;
      depth = Math.min(depth + 1, layout.CJK_DEPTHS - 1);
      visitor.feature(script + depth, at, at + 1, 1);
      continue;
    }
    hash = layout.stepCjk(0, code);
    depth = sets.cjk[layout.placeInSet(hash)] ?? 0;
    visitor.feature(depth === 1 ? script : layout.BLOCKS_AT + (code >> 6), at, at + 1, 1);
  }
  return at;
}
