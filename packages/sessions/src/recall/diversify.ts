import { termsOf } from "./word-scanner.ts";

/** Number of passages that are compared with each other: a few pages. */
const COMPARED = 32;
/** Share of common words from which on two passages say partly the same. */
const ALIKE = 0.3;
/** Part of its score that an exact repetition loses. */
const MAX_LOSS = 0.7;

interface Candidate<T> {
  readonly passage: T;
  readonly terms: ReadonlySet<string>;
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
  const left = ranked.slice(0, COMPARED).map(
    (passage): Candidate<T> => ({
      passage,
      terms: new Set(termsOf(textOf(passage)).map(({ text }) => text)),
      score: passage.score,
    }),
  );
  const chosen: T[] = [];
  while (left.length > 0) {
    const best = left.reduce((one, other) => (other.score > one.score ? other : one));
    left.splice(left.indexOf(best), 1);
    chosen.push(best.passage);
    for (const other of left) {
      const excess = Math.max(0, likeness(best.terms, other.terms) - ALIKE) / (1 - ALIKE);
      other.score = Math.min(other.score, other.passage.score * (1 - MAX_LOSS * excess));
    }
  }
  return [...chosen, ...ranked.slice(COMPARED)];
}

/** Returns the number of common words, as a share of the average number. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0;
  for (const term of one) if (other.has(term)) common++;
  return common / Math.max(1, (one.size + other.size) / 2);
}
