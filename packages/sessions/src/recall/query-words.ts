import { type AnswerForm, answerFormOf } from "./answer-form.ts";
import { relatedTo } from "./related-words.ts";
import { stemOf } from "./stem.ts";
import { stopWordsFor } from "./stop-words.ts";
import { type QueryTerm, termsOf } from "./word-scanner.ts";

/**
 * Maximum number of terms. A query is usually one line. If somebody pastes a page, only its beginning counts.
 */
const MAX_TERMS = 48;

/** Word of a query with the forms that a text may use instead. */
export interface QueryWord extends QueryTerm {
  readonly stem: string;
  /** Other words for the same thing. */
  readonly related: readonly string[];
  /** The word and a neighbor in the query as one word, because people write `home page` and `homepage`. */
  readonly joined: readonly string[];
  /** Importance of the word in the query. An ordinary word has 1. */
  readonly share: number;
}

export interface WordQuery {
  readonly words: readonly QueryWord[];
  /** True if the query names the user, who wrote the answer then. */
  readonly namesUser: boolean;
  /** Set if the query asks about the start or the end of the session. */
  readonly edge: "first" | "last" | undefined;
  /** Form of the answer, if the query asks for a path, a number or the like. */
  readonly form: AnswerForm | undefined;
}

/** Words for the person who types. A session rarely contains them, because people write in the first person. */
const USER_STEMS: ReadonlySet<string> = new Set(["user", "users", "human", "customer"].map(stemOf));

/**
 * Words for what people say. A text rarely names what it is: a request says "please", not "request". They
 * count less in a question about the user.
 */
const SPEECH_STEMS: ReadonlySet<string> = new Set(
  "ask request want demand instruct instruction message wish complain mention answer reply think decide like prefer suggest point need order"
    .split(" ")
    .map(stemOf),
);
const SPEECH_SHARE = 0.4;
/**
 * Importance of an identifier such as `getUserName`. It is copied from the session and names exactly one thing.
 * The words around it are those of the person who asks.
 */
const IDENTIFIER_SHARE = 2;

const EDGES: Readonly<Record<"first" | "last", ReadonlySet<string>>> = {
  first: new Set(["first", "initial", "initially", "beginning", "start", "started", "originally", "opening"]),
  last: new Set(["last", "latest", "final", "finally", "end", "eventually"]),
};

/**
 * Reads a query. Removes function words, unless the query has nothing else: `to be or not to be` is a query
 * too.
 */
export function wordQuery(text: string): WordQuery {
  const all = termsOf(text);
  const terms = [...new Map(all.map((term) => [term.text, term])).values()];
  const stops = stopWordsFor(terms.map((term) => term.text));
  const telling = terms.filter((term) => !stops.has(term.text));
  const isUser = (term: QueryTerm): boolean => USER_STEMS.has(stemOf(term.text));
  const others = telling.filter((term) => !isUser(term));
  const isQuestion = telling.length < terms.length;
  const namesUser = isQuestion && others.length > 0 && others.length < telling.length;
  const kept = namesUser ? others : telling.length > 0 ? telling : terms;
  const edge = (["first", "last"] as const).find((at) => terms.some((term) => EDGES[at].has(term.text)));
  const isWeak = ({ text }: QueryTerm): boolean =>
    SPEECH_STEMS.has(stemOf(text)) || (edge !== undefined && EDGES[edge].has(text));
  const words = kept.slice(0, MAX_TERMS).map((term): QueryWord => {
    const stem = stemOf(term.text);
    const share = term.parts.length > 0 ? IDENTIFIER_SHARE : namesUser && isWeak(term) ? SPEECH_SHARE : 1;
    return { ...term, stem, share, related: relatedTo(stem), joined: joinedWith(term, terms) };
  });
  return { words, namesUser, edge, form: answerFormOf(all.map((term) => term.text)) };
}

function joinedWith({ text }: QueryTerm, terms: readonly QueryTerm[]): readonly string[] {
  const at = terms.findIndex((term) => term.text === text);
  const [before, after] = [terms[at - 1]?.text, terms[at + 1]?.text];
  const isWord = (other: string | undefined): other is string =>
    other !== undefined && /^[a-z]{3,}$/.test(text) && /^[a-z]{3,}$/.test(other);
  return [...(isWord(before) ? [before + text] : []), ...(isWord(after) ? [text + after] : [])];
}
