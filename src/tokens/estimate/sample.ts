/**
 * Reads short texts whole and long ones in fair samples. What is skipped costs nothing, so that counting a
 * megabyte of tool output takes a fraction of what reading it would.
 */
import { DIGIT, EDGE, KIND, PUNCTUATION, SYMBOL_OF } from "./characters.ts";
import { type Model, WEIGHT_UNIT } from "./model.ts";
import { type Cursor, scanUntil } from "./scan.ts";

/** Characters that are read in any case; up to here an estimate is not sampled at all. */
export const READ_WHOLE = 8192;
/** Of what is beyond, one part in this many is read. */
export const SAMPLED_PART = 5;
/** Characters per sample: many small samples see more of a mixed text than few large ones. */
const SAMPLE = 128;
/** How far to look for the end of a word; base64 has none. */
const LONGEST_SEARCH = 24;

export function sampleCost(text: string, model: Model): number {
  const { length } = text;
  const cursor: Cursor = { at: 0, last: EDGE, secondLast: EDGE, noise: 0, known: 1 };
  if (length <= READ_WHOLE) return scanUntil(text, length, cursor, model) / WEIGHT_UNIT;
  const wanted = READ_WHOLE + (length - READ_WHOLE) / SAMPLED_PART;
  const meanSkip = SAMPLE * (length / wanted - 1);
  let jitter = length | 0;
  let cost = 0;
  let read = 0;
  for (;;) {
    const from = cursor.at;
    cost += scanUntil(text, Math.min(from + SAMPLE, length), cursor, model);
    // Ends as it began, before something that is no word; otherwise samples would hold too few words.
    const stop = cursor.at + LONGEST_SEARCH;
    while (cursor.at < stop && isWordLike(text, cursor.at))
      cost += scanUntil(text, cursor.at + 1, cursor, model);
    read += cursor.at - from;
    jitter = Math.imul(jitter, 1664525) + 1013904223;
    const skip = meanSkip * (0.5 + (jitter >>> 8) / 0x1000000);
    if (!moveToRun(text, cursor.at + (skip | 0), cursor)) break;
  }
  return ((cost / read) * length) / WEIGHT_UNIT;
}

/** Puts the cursor where a run begins, lest half a word be taken for one. False at the end of the text. */
function moveToRun(text: string, from: number, cursor: Cursor): boolean {
  let at = from;
  const limit = from + LONGEST_SEARCH;
  while (at < limit && isWordLike(text, at)) at++;
  if (at >= text.length) return false;
  cursor.at = at;
  cursor.last = SYMBOL_OF[text.charCodeAt(at - 1)] ?? 0;
  cursor.secondLast = SYMBOL_OF[text.charCodeAt(at - 2)] ?? 0;
  return true;
}

function isWordLike(text: string, at: number): boolean {
  if (at >= text.length) return false;
  const kind = KIND[text.charCodeAt(at)] ?? 0;
  return kind !== PUNCTUATION && kind <= DIGIT;
}
