import { STATUS } from "./document-status.ts";
import type { DocumentKind } from "./documents.ts";
import type { IndexedSession, ReadDocument } from "./indexed-session.ts";
import type { WordQuery } from "./query-words.ts";
import type { Ranking } from "./rank.ts";
import { type FoundWord, WordFinder } from "./word-finder.ts";
import { termsOf } from "./word-scanner.ts";

/** Documents that are read to find their best passages. Enough for several pages. */
const READ_DOCUMENTS = 64;
/** Messages that are read as well, however far down. A sentence is easily outnumbered by output. */
const READ_MESSAGES = 32;
/** Maximum words that are read. A session of large results would otherwise take seconds. */
const MAX_WORDS_READ = 400_000;

/** Length of a sentence or two, in characters. */
const NARROW = JSON.parse(process.env.TUNE ?? '{}').NARROW ?? 240;
/** Length of a paragraph. */
const WIDE = JSON.parse(process.env.TUNE ?? '{}').WIDE ?? 1_000;

const T = JSON.parse(process.env.TUNE ?? "{}");
const tune = (name: string, value: number): number => T[name] ?? value;

const KIND_WEIGHTS: Readonly<Record<DocumentKind, number>> = {
  user: tune("user", 1.2),
  assistant: tune("assistant", 1.2),
  thinking: tune("thinking", 0.7),
  call: tune("call", 0.75),
  result: tune("result", 0.75),
  attachment: tune("attachment", 0.75),
  system: 0.7,
  summary: tune("summary", 0.6),
  other: 0.5,
};
const PERSON = tune("person", 1.5);
const NAMED = tune("named", 2);

export interface FoundPassage {
  readonly document: ReadDocument;
  readonly words: readonly FoundWord[];
  /** Position of the best passage in the text. */
  readonly focus: number;
}

type Scored = FoundPassage & { readonly score: number };

/** Reads the best documents and ranks them by their best passages. */
export function rankPassages(
  session: IndexedSession,
  query: WordQuery,
  ranking: Ranking,
  fits: (document: number) => boolean,
): readonly FoundPassage[] {
  const finder = new WordFinder(query.words);
  const whole = ranking.weights.reduce((sum, weight) => sum + weight, 0);
  const top = ranking.documents[0]?.score ?? 1;
  const scored = new Map<number, Scored>();
  const scoreOf = (document: number, score: number): Scored => {
    const read = session.read(document);
    const words = finder.find(read.document.text);
    const narrow = bestWindow(words, ranking.weights, NARROW);
    const wide = bestWindow(words, ranking.weights, WIDE);
    const all = bestWindow(words, ranking.weights, Number.POSITIVE_INFINITY);
    const isPerson = isOfPerson(session, document);
    const kind = read.record.kind === "user" && !isPerson ? "result" : read.record.kind;
    const by = KIND_WEIGHTS[kind] * (isPerson ? PERSON : 1) * (isPerson && query.namesUser ? NAMED : 1);
    const close =
      (tune("narrow", 0.5) * narrow.weight + tune("wide", 0.35) * wide.weight + tune("all", 0.15) * all.weight) / Math.max(whole, 1e-9);
    const value = by * (close ** tune("power", 1)) * (1 - tune("bm", 0.3) + tune("bm", 0.3) * Math.sqrt(score / top));
    return { document: read, words, focus: wide.from, score: value };
  };
  for (const { document, score } of candidates(session, ranking)) scored.set(document, scoreOf(document, score));
  const best = [...scored.values()].sort((a, b) => b.score - a.score).slice(0, tune("leaders", 24));
  const share = query.namesUser ? tune("nearNamed", 0.6) : tune("near", 0.2);
  const bonus = new Map<number, number>();
  for (const leader of best) {
    if (leader.document.record.kind !== "assistant") continue;
    for (const step of [-1, 1]) {
      const at = personNear(session, leader.document.number, step);
      if (at === undefined || !fits(at)) continue;
      if (!scored.has(at)) { if (!query.namesUser) continue; scored.set(at, scoreOf(at, 0)); }
      bonus.set(at, Math.max(bonus.get(at) ?? 0, leader.score * share * (step === 1 ? tune("after", 1) : 1)));
    }
  }
  for (const [at, more] of bonus) {
    const own = scored.get(at) as Scored;
    scored.set(at, { ...own, score: own.score + more });
  }
  return diversified([...scored.values()].sort((a, b) => b.score - a.score));
}

function diversified(ranked: readonly Scored[]): readonly Scored[] {
  const count = tune("div", 32);
  const left = ranked.slice(0, count).map((found) => ({ found, score: found.score, terms: termsAround(found) }));
  const chosen: Scored[] = [];
  while (left.length > 0) {
    let best = 0;
    for (let at = 1; at < left.length; at++) if ((left[at]?.score ?? 0) > (left[best]?.score ?? 0)) best = at;
    const [next] = left.splice(best, 1);
    if (next === undefined) break;
    chosen.push(next.found);
    for (const other of left) {
      const alike = likeness(next.terms, other.terms);
      const least = tune("alike", 0.3);
      if (alike > least) other.score = Math.min(other.score, other.found.score * (1 - tune("lambda", 0.7) * (alike - least) / (1 - least)));
    }
  }
  return [...chosen, ...ranked.slice(count)];
}

function termsAround({ document, focus }: Scored): ReadonlySet<string> {
  const { text } = document.document;
  const from = text.length <= WIDE ? 0 : Math.max(0, focus - WIDE / 3);
  return new Set(termsOf(text.slice(from, from + WIDE)).map((term) => term.text));
}

function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let both = 0;
  for (const term of one) if (other.has(term)) both++;
  return both / Math.max(1, Math.min(one.size, other.size) * 0.5 + Math.max(one.size, other.size) * 0.5);
}

const isOfPerson = (session: IndexedSession, document: number): boolean =>
  (session.status(document) & STATUS.person) !== 0;

const NEAR = 60;
function personNear(session: IndexedSession, from: number, step: number): number | undefined {
  for (let at = from + step, left = NEAR; left > 0 && at >= 0 && at < session.documents; at += step, left--) {
    if (isOfPerson(session, at)) return at;
  }
  return undefined;
}

function candidates(session: IndexedSession, { documents }: Ranking): Ranking["documents"] {
  const chosen: Ranking["documents"][number][] = [];
  const lengths = session.lengths();
  let [words, messages] = [0, 0];
  for (const [nth, ranked] of documents.entries()) {
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
    if (length === Number.POSITIVE_INFINITY) break;
  }
  return best;
}
