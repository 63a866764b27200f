import { hasForm } from "./answer-form.ts";
import { diversified } from "./diversify.ts";
import { STATUS } from "./document-status.ts";
import type { DocumentKind } from "./documents.ts";
import type { IndexedSession, ReadDocument } from "./indexed-session.ts";
import type { WordQuery } from "./query-words.ts";
import { CONSIDERED_DOCUMENTS, NEARBY_SHARE, type RankedDocument, type Ranking } from "./rank.ts";
import { nameOf } from "./segment.ts";
import { sharedEntries } from "./shared-entries.ts";
import { type FoundWord, WordFinder } from "./word-finder.ts";

/*
 * The figures below were chosen with about a hundred questions about recorded sessions. The share of answered
 * questions changes little if they change by a third.
 */

/** Documents that are read to find their best passages. They fill more than a page. */
const READ_DOCUMENTS = 24;
/** Messages that are read as well, further down. Output easily outnumbers sentences. */
const READ_MESSAGES = 16;
/** Maximum words that are read, about 200 KB. More words answer no more questions, and take longer. */
const MAX_WORDS_READ = 30_000;

/** Lengths of the compared passages, in characters: a sentence or two, and a paragraph. */
const NARROW = 240;
const WIDE = 1_000;
/** Length of the part that an excerpt shows first: most of a hit's share of a page. */
const SHOWN = 700;
/** Part of the score that counts the words in one sentence. The other part counts those in one paragraph. */
const NARROW_SHARE = 0.5;
/** Part of the score that follows the ranking of whole documents. It counts repeated words and lengths. */
const DOCUMENT_SHARE = 0.3;

/** Weights by author. A sentence that answers a question beats thousands of lines with its words. */
const KIND_WEIGHTS: Readonly<Record<DocumentKind | "person", number>> = {
  person: 1.45,
  assistant: 1.2,
  // Most thoughts are repeated in the message that follows.
  thinking: 0.7,
  // Text of the host in the user's name, such as a report of a subagent.
  user: 0.75,
  call: 0.75,
  result: 0.75,
  attachment: 0.75,
  system: 0.7,
  summary: 0.6,
  other: 0.5,
};
/** Factor for messages of people if the query asks about the user. */
const NAMED_USER = 2;

/** Factor for passages with the form of the answer that the query asks for, such as a path. */
const FORM_FACTOR = 1.3;

/** Best passages whose neighbors gain. */
const LEADERS = 24;
/** Part of the score of an answer that the person's message before or after it gains. */
const NEAR_SHARE = 0.2;
/** The same part if the query asks about the user. A short message is often clear only from the answer. */
const NEAR_SHARE_OF_USER = 0.6;
/** Part of the score of a call that its result gains, because a result rarely repeats the words of its call. */
const RESULT_SHARE = 0.4;
/** Maximum distance between an answer and a person's message, in documents. A turn can have many calls. */
const NEAR_DOCUMENTS = 60;
/** Number of a person's messages that count as the first or the last ones. */
const EDGE_MESSAGES = 3;

export interface FoundPassage {
  readonly document: ReadDocument;
  readonly words: readonly FoundWord[];
  /** Position of the best passage in the text. */
  readonly focus: number;
}

export interface RankedPassages {
  readonly passages: readonly FoundPassage[];
  /** Documents that were read, with those that another session holds too. */
  readonly read: ReadonlySet<number>;
}

interface ScoredPassage extends FoundPassage {
  readonly score: number;
}

/**
 * Reads the best documents and ranks them by their best passages.
 * @param needed number of passages that are needed in order. The order of the others is unspecified.
 */
export function rankPassages(
  session: IndexedSession,
  query: WordQuery,
  ranking: Ranking,
  fits: (document: number) => boolean,
  needed: number,
): RankedPassages {
  const passages = new PassageScores(session, query, ranking);
  for (const { document, score } of candidates(session, ranking)) passages.add(document, score);
  const gains = new Map<number, number>();
  const gain = (document: number, more: number): void => {
    if (!fits(document)) return;
    if (!passages.scored.has(document)) {
      // A message without any word of the query answers only a question about its author.
      if (query.namesUser) passages.add(document, 0);
      else return;
    }
    gains.set(document, Math.max(gains.get(document) ?? 0, more));
  };
  const share = query.namesUser ? NEAR_SHARE_OF_USER : NEAR_SHARE;
  for (const { document, score } of byScore(passages.scored.values()).slice(0, LEADERS)) {
    for (const result of resultsOf(session, document))
      if (passages.scored.has(result)) gain(result, score * RESULT_SHARE);
    if (document.record.kind !== "assistant") continue;
    for (const step of [-1, 1]) {
      const near = personNear(session, document.number, step, NEAR_DOCUMENTS);
      if (near !== undefined && session.partOf(near) === session.partOf(document.number))
        gain(near, score * share);
    }
  }
  for (const [nth, document] of edgeMessages(session, query).entries()) {
    gain(document, KIND_WEIGHTS.person * NAMED_USER * (1 - nth / EDGE_MESSAGES));
  }
  const all = [...passages.scored].map(([document, passage]) => ({
    ...passage,
    score: passage.score + (gains.get(document) ?? 0),
  }));
  const isShared = sharedEntries(session);
  const once = byScore(all).filter(({ document }) => !isShared(document));
  return {
    passages: diversified(once, passageText, needed),
    read: new Set(passages.scored.keys()),
  };
}

const byScore = (passages: Iterable<ScoredPassage>): readonly ScoredPassage[] =>
  [...passages].sort((a, b) => b.score - a.score);

/** Returns the paragraph around the best passage. */
function passageText({ document, focus }: FoundPassage): string {
  const { text } = document.document;
  const from = text.length <= WIDE ? 0 : Math.max(0, focus - Math.floor(WIDE / 3));
  return text.slice(from, from + WIDE);
}

class PassageScores {
  readonly scored = new Map<number, ScoredPassage>();
  readonly #session: IndexedSession;
  readonly #query: WordQuery;
  readonly #finder: WordFinder;
  readonly #weights: readonly number[];
  readonly #weightNear: Ranking["weightNear"];
  readonly #whole: number;
  readonly #top: number;

  constructor(session: IndexedSession, query: WordQuery, { weights, weightNear, documents }: Ranking) {
    this.#session = session;
    this.#query = query;
    this.#finder = new WordFinder(query.words);
    this.#weights = weights;
    this.#weightNear = weightNear;
    this.#whole = Math.max(
      Number.MIN_VALUE,
      weights.reduce((sum, weight) => sum + weight, 0),
    );
    this.#top = documents[0]?.score ?? 1;
  }

  /** @param rank score of the whole document */
  add(document: number, rank: number): void {
    const read = this.#session.read(document);
    const words = this.#finder.find(read.document.text);
    const narrow = bestWindow(words, this.#weights, NARROW);
    const wide = bestWindow(words, this.#weights, WIDE);
    const inside = NARROW_SHARE * narrow.weight + (1 - NARROW_SHARE) * wide.weight;
    const close = (inside + NEARBY_SHARE * this.#weightNear(document)) / this.#whole;
    const whole = 1 - DOCUMENT_SHARE + DOCUMENT_SHARE * Math.sqrt(rank / this.#top);
    const passage = { document: read, words, focus: bestWindow(words, this.#weights, SHOWN).from };
    const score = close * whole * this.#authorWeight(read) * this.#formWeight(passage);
    this.scored.set(document, { ...passage, score });
  }

  #formWeight(passage: FoundPassage): number {
    const { form } = this.#query;
    return form !== undefined && hasForm(passageText(passage), form) ? FORM_FACTOR : 1;
  }

  #authorWeight({ number, record }: ReadDocument): number {
    if (!isOfPerson(this.#session, number)) return KIND_WEIGHTS[record.kind];
    return KIND_WEIGHTS.person * (this.#query.namesUser ? NAMED_USER : 1);
  }
}

const isOfPerson = (session: IndexedSession, document: number): boolean =>
  (session.status(document) & STATUS.person) !== 0;

/** Returns the result of a call. */
function resultsOf(session: IndexedSession, { number, record, document }: ReadDocument): readonly number[] {
  if (record.kind !== "call" || document.toolUseId === undefined) return [];
  return session
    .withId(nameOf("toolUse", document.toolUseId))
    .filter((other) => session.partOf(other) === session.partOf(number))
    .filter((other) => session.record(other).kind === "result");
}

function personNear(session: IndexedSession, from: number, step: number, most: number): number | undefined {
  for (let at = from + step, left = most; left > 0 && at >= 0 && at < session.documents; at += step, left--) {
    if (isOfPerson(session, at)) return at;
  }
  return undefined;
}

/** Returns the first or the last messages of people, if the query asks about them. */
function edgeMessages(session: IndexedSession, { namesUser, edge }: WordQuery): readonly number[] {
  const found: number[] = [];
  if (!namesUser || edge === undefined) return found;
  const step = edge === "first" ? 1 : -1;
  let at: number | undefined = edge === "first" ? -1 : session.documents;
  while (found.length < EDGE_MESSAGES) {
    at = personNear(session, at, step, session.documents);
    if (at === undefined) break;
    found.push(at);
  }
  return found;
}

/** Chooses the documents to read. The choice depends only on the query, so that pages agree with each other. */
function candidates(session: IndexedSession, { documents }: Ranking): readonly RankedDocument[] {
  const chosen: RankedDocument[] = [];
  const lengths = session.lengths();
  let [words, messages] = [0, 0];
  for (const [nth, ranked] of documents.slice(0, CONSIDERED_DOCUMENTS).entries()) {
    if (nth >= READ_DOCUMENTS) {
      const isMessage = (session.status(ranked.document) & STATUS.spoken) !== 0;
      if (!isMessage || messages >= READ_MESSAGES) continue;
      messages++;
    }
    words += lengths[ranked.document] as number;
    if (words > MAX_WORDS_READ && chosen.length > 0) break;
    chosen.push(ranked);
  }
  return chosen;
}

/** Finds the passage of a length with the most weight of different words. */
function bestWindow(
  words: readonly FoundWord[],
  weights: readonly number[],
  length: number,
): { readonly weight: number; readonly from: number } {
  let best = { weight: 0, from: words[0]?.from ?? 0 };
  const inside = new Float64Array(weights.length);
  for (const [nth, first] of words.entries()) {
    inside.fill(0);
    let weight = 0;
    for (let at = nth; at < words.length; at++) {
      const found = words[at] as FoundWord;
      if (found.to - first.from > length) break;
      const more = found.weight - (inside[found.word] as number);
      if (more <= 0) continue;
      inside[found.word] = found.weight;
      weight += more * (weights[found.word] as number);
    }
    if (weight > best.weight) best = { weight, from: first.from };
  }
  return best;
}
