import { eachPosting } from "./dictionary.ts";
import { STATUS } from "./document-status.ts";
import type { IndexedSession } from "./indexed-session.ts";
import type { QueryWord } from "./query-words.ts";
import type { Segment } from "./segment.ts";
import { stemOf } from "./stem.ts";
import { FORM_WEIGHTS, isTooShort } from "./word-finder.ts";

/**
 * Common BM25 parameters. The first decides how quickly repeated words stop counting. The second decides how
 * much long texts are penalized.
 */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
const MAX_PIECES = 64;
/** Weight of a message, which says more than the output of a command. */
const SPOKEN_WEIGHT = 1.5;
/** Weight of a person's message, which matters most. */
const PERSON_WEIGHT = 2;
/** Weight of a summary, because it only restates other messages. */
const RETOLD_WEIGHT = 0.5;
/**
 * Minimum share of the query that a hit must contain, by weight. It applies only to queries of three or more
 * words. If no document reaches this share, it does not apply. It is low, because people ask in other words than
 * those of the answer.
 */
const MIN_SHARE = 0.1;
/**
 * Share of the weight that a query word still has if it is only near a document. An answer often follows the
 * message that has the words of the question.
 */
export const NEARBY_SHARE = 0.3;
/** Distance in documents up to which a word is nearby, and the part of its weight that is left with each step. */
const NEARBY_DOCUMENTS = 6;
const NEARBY_FALLOFF = 0.8;

/** Best documents whose neighbors count, and among which a search chooses those that it reads. */
export const CONSIDERED_DOCUMENTS = 512;

export interface RankedDocument {
  readonly document: number;
  readonly score: number;
}

export interface Ranking {
  /** Documents, best first. If two are equally good, the newer one comes first. */
  readonly documents: readonly RankedDocument[];
  readonly total: number;
  /** Checks whether a document is among all matching ones. */
  matches(document: number): boolean;
  /** Weight of each word, which grows with its rarity in the session. 0 if no document has it. */
  readonly weights: readonly number[];
  /** Returns the weight of the query words that only the documents near a document have. */
  weightNear(document: number): number;
}

/** Documents that may be hits. */
export interface DocumentFilter {
  /** Status flags of documents that are no hits, see {@link STATUS}. */
  readonly hidden: number;
  /** Condition for the other documents. Undefined if there is none. */
  readonly isMeant: ((document: number) => boolean) | undefined;
}

/** Ranks the matching documents by the words and returns the best. */
export function rankByWords(
  session: IndexedSession,
  words: readonly QueryWord[],
  filter: DocumentFilter,
  most: number,
): Ranking {
  const scores = new Scores(session);
  const weights = words.map((word) => scores.add(word));
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const least = words.length < 3 ? 0 : whole * MIN_SHARE;
  const weightNear = (document: number): number => scores.weightNear(document);
  const ranked = best(session, scores, filter, { least, most });
  if (ranked.total > 0 || least === 0) return { ...ranked, weights, weightNear };
  return { ...best(session, scores, filter, { least: 0, most }), weights, weightNear };
}

/** One form of a word, as the lists of its documents. */
interface FormLists {
  /** Lists of each segment. */
  readonly lists: readonly (readonly Buffer[])[];
  readonly weight: number;
}

/** Scores of all documents, summed up word by word. */
class Scores {
  readonly values: Float32Array;
  /** Weight of the query words in each document. */
  readonly coverage: Float32Array;
  readonly #session: IndexedSession;
  readonly #averageLength: number;
  /** Occurrences of the current form in each document. */
  readonly #counts: Float32Array;
  /** Best score and weight of the current word in each document. */
  readonly #worth: Float32Array;
  readonly #share: Float32Array;
  /** Weight of each word, and how much of it each document has. */
  readonly #words: { readonly weight: number; readonly percent: Uint8Array }[] = [];

  constructor(session: IndexedSession) {
    this.#session = session;
    const { documents } = session;
    this.values = new Float32Array(documents);
    this.coverage = new Float32Array(documents);
    this.#counts = new Float32Array(documents);
    this.#worth = new Float32Array(documents);
    this.#share = new Float32Array(documents);
    const words = session.segments.reduce((sum, { facts }) => sum + facts.words, 0);
    this.#averageLength = Math.max(1, words / Math.max(1, documents));
  }

  /** Adds a word. Returns its weight in the query. */
  add(word: QueryWord): number {
    const found: number[] = [];
    const own = this.#addForm(this.#whole(word), found);
    let weight = own;
    const addWeaker = (form: FormLists): void => {
      const rarity = this.#addForm(form, found);
      if (own === 0) weight = Math.max(weight, rarity * form.weight);
    };
    for (const part of word.parts) {
      addWeaker({
        lists: this.#lists((segment) => listsOf(segment, part)),
        weight: FORM_WEIGHTS.part / word.parts.length,
      });
    }
    for (const other of word.joined) {
      const stem = stemOf(other);
      const lists = this.#lists((segment) => withStem(segment, other, stem));
      addWeaker({ lists, weight: FORM_WEIGHTS.stem });
    }
    for (const other of word.related) {
      const stem = stemOf(other);
      addWeaker({
        lists: this.#lists((segment) => withStem(segment, other, stem)),
        weight: FORM_WEIGHTS.related,
      });
    }
    if (weight === 0 && !isTooShort(word.text)) {
      const pieces = (segment: Segment): readonly Buffer[] =>
        segment.words.termsWith(word.text, "anywhere", MAX_PIECES).map((term) => term.list());
      addWeaker({ lists: this.#lists(pieces), weight: FORM_WEIGHTS.piece });
    }
    this.#endWord(found, weight * word.share, word.share);
    return weight * word.share;
  }

  #whole({ text, stem }: QueryWord): FormLists {
    return { lists: this.#lists((segment) => withStem(segment, text, stem)), weight: FORM_WEIGHTS.whole };
  }

  #lists(listsIn: (segment: Segment) => readonly Buffer[]): FormLists["lists"] {
    return this.#session.segments.map(listsIn);
  }

  /**
   * Adds a form of the current word. A document gets the score of its best form.
   * @param found documents with the word so far
   */
  #addForm({ lists, weight }: FormLists, found: number[]): number {
    const documents: number[] = [];
    const counts = this.#counts;
    for (const [nth, ofSegment] of lists.entries()) {
      const base = this.#session.baseOf(nth);
      for (const list of ofSegment) {
        eachPosting(list, (local, count) => {
          const document = base + local;
          if (counts[document] === 0) documents.push(document);
          counts[document] = (counts[document] as number) + count;
        });
      }
    }
    if (documents.length === 0) return 0;
    // The root, because the rarest words of a question are often only those of the person who asks.
    const rarity = Math.sqrt(
      Math.log(1 + (this.#session.documents - documents.length + 0.5) / (documents.length + 0.5)),
    );
    const lengths = this.#session.lengths();
    const byLength = (SATURATION * LENGTH_SHARE) / this.#averageLength;
    for (const document of documents) {
      const count = counts[document] as number;
      counts[document] = 0;
      const held = SATURATION * (1 - LENGTH_SHARE) + byLength * (lengths[document] as number);
      const worth = weight * rarity * ((count * (SATURATION + 1)) / (count + held));
      if (this.#share[document] === 0) found.push(document);
      if (worth > (this.#worth[document] as number)) this.#worth[document] = worth;
      if (weight > (this.#share[document] as number)) this.#share[document] = weight;
    }
    return rarity;
  }

  #endWord(found: readonly number[], weight: number, share: number): void {
    const percent = new Uint8Array(this.values.length);
    this.#words.push({ weight, percent });
    for (const document of found) {
      this.values[document] = (this.values[document] as number) + share * (this.#worth[document] as number);
      this.coverage[document] =
        (this.coverage[document] as number) + weight * (this.#share[document] as number);
      percent[document] = Math.round((this.#share[document] as number) * 100);
      this.#worth[document] = 0;
      this.#share[document] = 0;
    }
  }

  /**
   * Returns the weight of the query words that only the documents near a document have. It is computed on demand,
   * because few documents rank high enough to need it.
   */
  weightNear(document: number): number {
    const { first, end } = this.#session.boundsOf(document);
    let sum = 0;
    for (const { weight, percent } of this.#words) {
      let best = percent[document] as number;
      for (let distance = 1, left = 1; distance <= NEARBY_DOCUMENTS; distance++) {
        left *= NEARBY_FALLOFF;
        const before = document - distance < first ? 0 : (percent[document - distance] as number);
        const after = document + distance >= end ? 0 : (percent[document + distance] as number);
        best = Math.max(best, left * before, left * after);
      }
      sum += (weight * (best - (percent[document] as number))) / 100;
    }
    return sum;
  }
}

function listsOf(segment: Segment, term: string): readonly Buffer[] {
  const list = segment.words.list(term);
  return list === undefined ? [] : [list];
}

/** Returns the lists of a word, and of all words with the same stem. */
function withStem(segment: Segment, text: string, stem: string): readonly Buffer[] {
  const siblings = [...segment.stems.documents(stem)].map((nth) => segment.words.listAt(nth));
  // A word with an ending is among its siblings. The stem may be a word too.
  return stem === text ? [...listsOf(segment, text), ...siblings] : [...listsOf(segment, stem), ...siblings];
}

function statusWeight(status: number): number {
  if ((status & STATUS.retold) !== 0) return RETOLD_WEIGHT;
  if ((status & STATUS.person) !== 0) return PERSON_WEIGHT;
  return (status & STATUS.spoken) === 0 ? 1 : SPOKEN_WEIGHT;
}

/** Number of values of a status, which is one byte. */
const STATUS_VALUES = 256;

const SORTED_AT_ONCE = 256;
const byScore = (a: RankedDocument, b: RankedDocument): number => b.score - a.score;

/**
 * Returns the best documents. Drops other documents during the search, because common words match nearly
 * everything. Calls no function for a usual document: the loop visits all of them, mostly before it is compiled.
 */
function best(
  session: IndexedSession,
  scores: Scores,
  { hidden, isMeant }: DocumentFilter,
  { least, most }: { readonly least: number; readonly most: number },
): Omit<Ranking, "weights" | "weightNear"> {
  const { statuses } = session;
  const { values, coverage } = scores;
  const weights = Float64Array.from({ length: STATUS_VALUES }, (_, status) => statusWeight(status));
  const kept: RankedDocument[] = [];
  /** Score of the worst kept document, once there are enough. */
  let floor = Number.NEGATIVE_INFINITY;
  let total = 0;
  // Starts with the newest document, so that newer documents come first among equal scores.
  for (let document = values.length - 1; document >= 0; document--) {
    const value = values[document] as number;
    const covered = coverage[document] as number;
    const status = statuses[document] as number;
    if (value === 0 || covered < least || (status & hidden) !== 0) continue;
    if (isMeant !== undefined && !isMeant(document)) continue;
    total++;
    const score = value * covered * (weights[status] as number);
    if (score <= floor) continue;
    kept.push({ document, score });
    // From time to time, drops documents that cannot be among the best. Sorting keeps the order of equals.
    if (kept.length < most * 2 + SORTED_AT_ONCE) continue;
    kept.sort(byScore).splice(most);
    floor = kept.at(-1)?.score ?? floor;
  }
  kept.sort(byScore).splice(most);
  const matches = (document: number): boolean =>
    values[document] !== 0 &&
    (coverage[document] as number) >= least &&
    (session.status(document) & hidden) === 0 &&
    isMeant?.(document) !== false;
  const rescored = kept.slice(0, CONSIDERED_DOCUMENTS).map(({ document, score }): RankedDocument => {
    const near = NEARBY_SHARE * scores.weightNear(document);
    return { document, score: score * (1 + near / (coverage[document] as number)) };
  });
  const documents = [...rescored.sort(byScore), ...kept.slice(CONSIDERED_DOCUMENTS)];
  return { documents, total, matches };
}
