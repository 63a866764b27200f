import { headOf } from "../../messages/text.ts";

/** Cuts a text to the beginning that fits a token budget. */

/** Smallest useful beginning of a text. A shorter one costs more than it helps the model. */
export const MIN_HEAD_TOKENS = 200;
/**
 * Upper bound for the average length of a token. Text beyond the budget times this length is not examined.
 */
const MAX_CHARACTERS_PER_TOKEN = 40;
/** Steps of the binary search. More steps would only be slower. */
const STEPS = 12;
/**
 * Maximum share of the head that a cut may remove to end after a line. If more text would be removed, the cut
 * stays inside the line.
 */
const LINE_SHARE = 0.5;

/** Returns false for a text that is certainly too long. This avoids counting gigabytes. */
export function mayFit(text: string, budgetTokens: number): boolean {
  return text.length <= budgetTokens * MAX_CHARACTERS_PER_TOKEN;
}

/**
 * Returns a long beginning of the text that passes `fits`, or an empty string. If possible, the beginning
 * ends after a line. The returned text itself has been tested, because token counts of parts do not add up
 * exactly.
 */
export function headThatFits(text: string, budgetTokens: number, fits: (head: string) => boolean): string {
  const longest = Math.min(text.length, Math.max(0, budgetTokens) * MAX_CHARACTERS_PER_TOKEN);
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
