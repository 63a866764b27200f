import { WordScanner } from "./word-scanner.ts";

/** Number of passages that are compared with each other: three pages. */
const COMPARED = 24;
/** Share of common words from which on two passages say partly the same. */
const ALIKE = 0.3;
/** Part of its score that an exact repetition loses. */
const MAX_LOSS = 0.7;

interface Candidate<T> {
  readonly passage: T;
  /** Hashes of the words. */
  readonly terms: ReadonlySet<number>;
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
  const termsIn = termReader();
  const left = ranked
    .slice(0, COMPARED)
    .map((passage): Candidate<T> => ({ passage, terms: termsIn(textOf(passage)), score: passage.score }));
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

/** Creates a function that returns the hashes of the words of a text. */
function termReader(): (text: string) => ReadonlySet<number> {
  let terms = new Set<number>();
  const scanner = new WordScanner({
    term: (hash) => terms.add(hash),
    part: () => undefined,
    long: () => undefined,
  });
  return (text) => {
    terms = new Set();
    scanner.scan(text);
    return terms;
  };
}

/** Returns the number of common words, as a share of the average number. */
function likeness(one: ReadonlySet<number>, other: ReadonlySet<number>): number {
  let common = 0;
  for (const term of one) if (other.has(term)) common++;
  return common / Math.max(1, (one.size + other.size) / 2);
}
