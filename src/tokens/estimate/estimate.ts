/**
 * Our own estimator: the best published one (tokenx) is off by 73% on base64 and reads 8 MB/s, and an exact tokenizer
 * needs a vocabulary of megabytes. docs/design/0002-token-estimator.md has the measurements.
 */
import { codeAt, DIGIT, EDGE, KIND, PUNCTUATION, SYMBOL_OF } from "./characters.ts";
import { scramble } from "./layout.ts";
import { type LearnedTables, unpackTables, WEIGHT_UNIT } from "./learned-tables.ts";
import { PACKED_TABLES } from "./packed-tables.ts";
import { type Cursor, scanUntil } from "./scan.ts";

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
