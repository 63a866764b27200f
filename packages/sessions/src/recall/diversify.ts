/** Number of passages that are compared with each other: three pages. */
const COMPARED = 24;
/** Share of common words from which on two passages say partly the same. */
const ALIKE = 0.3;
/** Part of its score that an exact repetition loses. */
const MAX_LOSS = 0.7;

interface Candidate<T> {
  readonly passage: T;
  readonly words: ReadonlySet<string>;
  score: number;
}

/**
 * Moves passages down if they repeat a better one. An agent says many things again and again, and a page of
 * repetitions has no room for anything else.
 * @param ranked passages, best first
 */
export function diversified<T extends { readonly score: number }>(
  ranked: readonly T[],
  textOf: (passage: T) => string,
): readonly T[] {
  const left = ranked
    .slice(0, COMPARED)
    .map((passage): Candidate<T> => ({ passage, words: wordsIn(textOf(passage)), score: passage.score }));
  const chosen: T[] = [];
  while (left.length > 0) {
    const best = left.reduce((one, other) => (other.score > one.score ? other : one));
    left.splice(left.indexOf(best), 1);
    chosen.push(best.passage);
    for (const other of left) {
      const excess = Math.max(0, likeness(best.words, other.words) - ALIKE) / (1 - ALIKE);
      other.score = Math.min(other.score, other.passage.score * (1 - MAX_LOSS * excess));
    }
  }
  return [...chosen, ...ranked.slice(COMPARED)];
}

/** Splits a text coarsely. That is enough to recognize repetitions, and many times as fast as an index splits. */
const wordsIn = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().split(/[\s\p{P}\p{S}]+/u));

/** Returns the number of common words, as a share of the average number. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0;
  for (const word of one) if (other.has(word)) common++;
  return common / Math.max(1, (one.size + other.size) / 2);
}
