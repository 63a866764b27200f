/** Number of passages that are compared with each other: more than a page. */
const COMPARED = 24;
/** Share of common words from which on two passages say mostly the same. */
const ALIKE = 0.5;
/** Part of its score that an exact repetition loses. */
const MAX_LOSS = 0.7;

interface Candidate<T> {
  readonly passage: T;
  words: ReadonlySet<string> | undefined;
  /** Score after all comparisons so far. More comparisons can only lower it. */
  score: number;
  /** Number of chosen passages that the candidate was compared with. */
  compared: number;
}

/**
 * Moves passages down if they repeat a better one. An agent says many things again and again, and a page of
 * repetitions has no room for anything else.
 * @param ranked passages, best first
 * @param needed number of passages that are needed in order. The order of the others is unspecified.
 */
export function diversified<T extends { readonly score: number }>(
  ranked: readonly T[],
  textOf: (passage: T) => string,
  needed: number,
): readonly T[] {
  const left = ranked
    .slice(0, COMPARED)
    .map((passage): Candidate<T> => ({ passage, words: undefined, score: passage.score, compared: 0 }));
  const wordsOf = (candidate: Candidate<T>): ReadonlySet<string> => {
    candidate.words ??= wordsIn(textOf(candidate.passage));
    return candidate.words;
  };
  const chosen: Candidate<T>[] = [];
  while (left.length > 0 && chosen.length < needed) {
    const best = left.reduce((one, other) => (other.score > one.score ? other : one));
    const repeated = chosen[best.compared];
    if (repeated === undefined) {
      left.splice(left.indexOf(best), 1);
      chosen.push(best);
      continue;
    }
    // Compares only passages that would be chosen, because splitting and comparing all takes much longer.
    const excess = Math.max(0, likeness(wordsOf(repeated), wordsOf(best)) - ALIKE) / (1 - ALIKE);
    best.score = Math.min(best.score, best.passage.score * (1 - MAX_LOSS * excess));
    best.compared++;
  }
  return [...[...chosen, ...left].map(({ passage }) => passage), ...ranked.slice(COMPARED)];
}

/** Splits a text coarsely. That is enough to recognize repetitions, and many times as fast as an index splits. */
const wordsIn = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(/[a-z0-9_]+|[^\0-\x7f]+/g));

/** Returns the number of common words, as a share of the average number. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0;
  for (const word of one) if (other.has(word)) common++;
  return common / Math.max(1, (one.size + other.size) / 2);
}
