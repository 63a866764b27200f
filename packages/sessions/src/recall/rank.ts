import { eachPosting, frequencyIn } from "./dictionary.ts";
import { STATUS } from "./document-status.ts";
import type { IndexedSession } from "./indexed-session.ts";
import type { Segment } from "./segment.ts";
import { isIdeograph, type QueryTerm, termsOf } from "./word-scanner.ts";

/**
 * Common BM25 parameters. The first decides how quickly repeated words stop counting. The second decides how
 * much long texts are penalized.
 */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
/** Weight of a part of an identifier, which is only a hint. */
const PART_WEIGHT = 0.4;
/** Weight of terms that contain the query word. Such terms count only if no term equals the query word. */
const PIECE_WEIGHT = 0.5;
const SHORTEST_PIECE = 3;
const MAX_PIECES = 64;
/** Weight of a message, which says more than the output of a command. */
const SPOKEN_WEIGHT = 1.5;
/** Weight of a person's message, which matters most. */
const PERSON_WEIGHT = 2;
/**
 * Maximum number of terms. A query is usually one line. If somebody pastes a page, only its beginning counts.
 */
const MAX_TERMS = 48;
/**
 * Minimum share of the query's words that a hit must contain. It applies only to queries of three or more
 * words. If no document reaches this share, it does not apply.
 */
const MIN_SHARE = 0.4;

interface Ranking {
  /** Documents, best first. If two are equally good, the newer one comes first. */
  readonly documents: readonly number[];
  readonly total: number;
}

/** Ranks the matching documents by the words and returns the best. */
export function rankByWords(
  session: IndexedSession,
  words: string,
  fits: (document: number) => boolean,
  most: number,
): Ranking {
  const terms = distinct(termsOf(words)).slice(0, MAX_TERMS);
  const scores = new Scores(session);
  for (const [nth, term] of terms.entries()) scores.add(term, nth + 1);
  const least = terms.length < 3 ? 0 : terms.length * MIN_SHARE;
  const ranked = best(session, scores, fits, { least, most });
  if (ranked.total > 0 || least === 0) return ranked;
  return best(session, scores, fits, { least: 0, most });
}

function distinct(terms: readonly QueryTerm[]): readonly QueryTerm[] {
  return [...new Map(terms.map((term) => [term.text, term])).values()];
}

/** Scores of all documents, summed up word by word. */
class Scores {
  readonly values: Float32Array;
  /** Number of query words in each document. */
  readonly coverage: Float32Array;
  readonly #lastTerm: Uint8Array;
  readonly #session: IndexedSession;
  readonly #averageLength: number;

  constructor(session: IndexedSession) {
    this.#session = session;
    this.values = new Float32Array(session.documents);
    this.coverage = new Float32Array(session.documents);
    this.#lastTerm = new Uint8Array(session.documents);
    const words = session.segments.reduce((sum, { facts }) => sum + facts.words, 0);
    this.#averageLength = Math.max(1, words / Math.max(1, session.documents));
  }

  add(term: QueryTerm, nth: number): void {
    const isFound = this.#addLists((segment) => listsOf(segment, term.text), 1, nth, 1);
    for (const part of term.parts) {
      this.#addLists((segment) => listsOf(segment, part), PART_WEIGHT, nth, PART_WEIGHT / term.parts.length);
    }
    if (isFound || term.parts.length > 0 || isTooShort(term.text)) return;
    const pieces = (segment: Segment): readonly Buffer[] =>
      segment.words.termsWith(term.text, "anywhere", MAX_PIECES).map((found) => found.list());
    this.#addLists(pieces, PIECE_WEIGHT, nth, PIECE_WEIGHT);
  }

  #addLists(
    listsIn: (segment: Segment) => readonly Buffer[],
    weight: number,
    nth: number,
    share: number,
  ): boolean {
    const lists = this.#session.segments.map(listsIn);
    const frequency = lists.flat().reduce((sum, list) => sum + frequencyIn(list), 0);
    if (frequency === 0) return false;
    const count = Math.max(this.#session.documents, frequency);
    const rarity = Math.log(1 + (count - frequency + 0.5) / (frequency + 0.5)) * weight;
    for (const [at, segment] of this.#session.segments.entries()) {
      for (const list of lists[at] ?? [])
        this.#addList(segment, this.#session.baseOf(at), list, { rarity, nth, share });
    }
    return true;
  }

  #addList(
    segment: Segment,
    base: number,
    list: Buffer,
    { rarity, nth, share }: { readonly rarity: number; readonly nth: number; readonly share: number },
  ): void {
    const lengths = segment.lengths();
    const { values, coverage } = this;
    const lastTerm = this.#lastTerm;
    const byLength = (SATURATION * LENGTH_SHARE) / this.#averageLength;
    eachPosting(list, (local, count) => {
      const document = base + local;
      const held = SATURATION * (1 - LENGTH_SHARE) + byLength * (lengths[local] as number);
      const worth = rarity * ((count * (SATURATION + 1)) / (count + held));
      values[document] = (values[document] as number) + worth;
      // A document with the whole word also contains the parts of the word, and has already been counted.
      if (share < 1 && lastTerm[document] === nth) return;
      coverage[document] = (coverage[document] as number) + share;
      if (share === 1) lastTerm[document] = nth;
    });
  }
}

/**
 * Checks whether a text is too short for a search. A single letter is too short, because it occurs in very
 * many words. A single ideograph is not, because it is a word.
 */
const isTooShort = (text: string): boolean =>
  text.length < SHORTEST_PIECE && !isIdeograph(text.charCodeAt(0));

function listsOf(segment: Segment, term: string): readonly Buffer[] {
  const list = segment.words.list(term);
  return list === undefined ? [] : [list];
}

function weightOf(status: number): number {
  if ((status & STATUS.person) !== 0) return PERSON_WEIGHT;
  return (status & STATUS.spoken) === 0 ? 1 : SPOKEN_WEIGHT;
}

const SORTED_AT_ONCE = 256;
const byScore = (a: { readonly score: number }, b: { readonly score: number }): number => b.score - a.score;

/**
 * Returns the best documents. Drops other documents during the search, because common words match nearly
 * everything.
 */
function best(
  session: IndexedSession,
  { values, coverage }: Scores,
  fits: (document: number) => boolean,
  { least, most }: { readonly least: number; readonly most: number },
): Ranking {
  const kept: { readonly document: number; readonly score: number }[] = [];
  let total = 0;
  // Starts with the newest document, so that newer documents come first among equal scores.
  for (let document = values.length - 1; document >= 0; document--) {
    const value = values[document] as number;
    const covered = coverage[document] as number;
    if (value === 0 || covered < least || !fits(document)) continue;
    total++;
    const score = value * covered * weightOf(session.status(document));
    kept.push({ document, score });
    // From time to time, drops documents that cannot be among the best. Sorting keeps the order of equals.
    if (kept.length >= most * 2 + SORTED_AT_ONCE) kept.sort(byScore).splice(most);
  }
  kept.sort(byScore).splice(most);
  return { documents: kept.map(({ document }) => document), total };
}
