/**
 * Reads short texts whole and long ones in fair samples. What is skipped costs nothing, so that counting a
 * megabyte of tool output takes a fraction of what reading it would. The samples are many, small and at
 * irregular distances: lines of equal length must not show the same column every time.
 */
import { DIGIT, EDGE, KIND, PUNCTUATION, SYMBOL_OF } from "./characters.ts";
import { scramble } from "./layout.ts";
import { type Model, WEIGHT_UNIT } from "./model.ts";
import { type Cursor, scanUntil } from "./scan.ts";

/** Characters that are read in any case; up to here an estimate is not sampled at all. */
export const READ_WHOLE = 8192;
/** Of what is beyond, one part in this many is read. */
const SAMPLED_PART = 6;
/** Characters per sample: many small samples see more of a mixed text than few large ones. */
const SAMPLE = 64;
/** How far to look for the end of a word; base64 has none. */
const LONGEST_SEARCH = 24;

export function sampleCost(text: string, model: Model): number {
  const { length } = text;
  const cursor: Cursor = { at: 0, last: EDGE, secondLast: EDGE, noise: 0, known: 1 };
  if (length <= READ_WHOLE) return scanUntil(text, length, cursor, model) / WEIGHT_UNIT;
  const wanted = READ_WHOLE + (length - READ_WHOLE) / SAMPLED_PART;
  const meanSkip = SAMPLE * (length / wanted - 1);
  let jitter = length;
  let cost = 0;
  while (cursor.at < length) {
    const from = cursor.at;
    const sampled = readSample(text, cursor, model);
    const read = cursor.at - from;
    jitter = scramble(jitter);
    moveToRun(text, cursor.at + Math.round(meanSkip * (0.5 + jitter / 2 ** 32)), cursor);
    // Each sample stands for the stretch up to the next one, so that a long sample counts no more than others.
    cost += (sampled / read) * (cursor.at - from);
  }
  return cost / WEIGHT_UNIT;
}

/** Ends as it begins, before something that is no word; otherwise samples would hold too few words. */
function readSample(text: string, cursor: Cursor, model: Model): number {
  let cost = scanUntil(text, Math.min(cursor.at + SAMPLE, text.length), cursor, model);
  const stop = cursor.at + LONGEST_SEARCH;
  while (cursor.at < stop && isWordLike(text, cursor.at))
    cost += scanUntil(text, cursor.at + 1, cursor, model);
  return cost;
}

/** Puts the cursor where a run begins, lest half a word be taken for one; or at the end of the text. */
function moveToRun(text: string, from: number, cursor: Cursor): void {
  let at = from;
  const limit = from + LONGEST_SEARCH;
  while (at < limit && isWordLike(text, at)) at++;
  cursor.at = Math.min(at, text.length);
  cursor.last = SYMBOL_OF[text.charCodeAt(cursor.at - 1)] ?? 0;
  cursor.secondLast = SYMBOL_OF[text.charCodeAt(cursor.at - 2)] ?? 0;
}

function isWordLike(text: string, at: number): boolean {
  if (at >= text.length) return false;
  const kind = KIND[text.charCodeAt(at)] ?? 0;
  return kind !== PUNCTUATION && kind <= DIGIT;
}
