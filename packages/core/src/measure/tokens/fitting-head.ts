import { headOf } from "../../messages/text.ts";

/** The beginning of a text that fits into a number of tokens. */

/** A shorter head tells less than it costs. */
export const LEAST_HEAD_TOKENS = 200;
/** No text has longer tokens on average; more than this is not even looked at. */
const CHARACTERS_PER_TOKEN_AT_MOST = 40;
/** The end is found to within this share of the text: finer would only be slower. */
const STEPS = 12;
/** A cut goes back to the end of a line unless that costs more than this share of the head. */
const LINE_SHARE = 0.5;

/** Whether it is worth counting: a text of gigabytes is not counted to learn that it is too long. */
export function mayFit(text: string, budgetTokens: number): boolean {
  return text.length <= budgetTokens * CHARACTERS_PER_TOKEN_AT_MOST;
}

/**
 * A long beginning of the text that passes, cut after a line where there is one; empty if none does. Tokens
 * do not add up evenly, so that what is given back has been tried itself.
 */
export function headThatFits(text: string, budgetTokens: number, fits: (head: string) => boolean): string {
  const longest = Math.min(text.length, Math.max(0, budgetTokens) * CHARACTERS_PER_TOKEN_AT_MOST);
  let best = "";
  let low = 0;
  let high = longest;
  for (let step = 0; step < STEPS && high > low; step++) {
    const head = headOf(text, Math.ceil((low + high) / 2));
    if (fits(head)) {
      best = head;
      low = Math.max(head.length, low + 1);
    } else high = Math.ceil((low + high) / 2) - 1;
  }
  const line = best.slice(0, best.lastIndexOf("\n") + 1);
  return line.length >= best.length * LINE_SHARE && fits(line) ? line : best;
}
