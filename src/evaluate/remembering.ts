import type { CountText } from "../tokens/measure.ts";

/** Shorter texts are counted as fast as they are looked up. */
const WORTH_REMEMBERING_CHARS = 200;

/** Counts each text once: the same messages are measured before and after every compaction, by every policy. */
export function remembering(countText: CountText): CountText {
  const known = new Map<string, number>();
  return (text) => {
    if (text.length < WORTH_REMEMBERING_CHARS) return countText(text);
    const counted = known.get(text);
    if (counted !== undefined) return counted;
    const tokens = countText(text);
    known.set(text, tokens);
    return tokens;
  };
}
