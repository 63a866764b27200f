import type { UserTurn } from "./read-session.ts";
import { type SessionView, SHOWN_CHARS, spread, topicWords, wordGroup } from "./session-view.ts";
import { notSaidIn } from "./stances.ts";
import { isBagOfWords } from "./stuffing.ts";
import type { Probe, Stance } from "./types.ts";
import {
  contentStems,
  excerptOf,
  isContentToken,
  isNegation,
  normalForm,
  sentencesOf,
  tokensOf,
  withoutCode,
} from "./words.ts";

type Draft = Omit<Probe, "id">;

/** A sentence that the user typed. */
export interface UserSentence {
  readonly text: string;
  readonly turn: UserTurn;
}

/** A message beyond this length is a paste or a plan. Only its first and last sentences count as the user's. */
const LONG_MESSAGE_CHARS = 1_500;
const LONG_MESSAGE_SENTENCES = 2;
/** Shorter sentences ("yes, do it") mean nothing without the message before them. */
const MIN_CONTENT_WORDS = 3;
/** One message gives at most this many probes, so that a long message does not fill the exam. */
const MAX_PER_MESSAGE = 3;
/** Share of the words of a sentence that an honest paraphrase keeps. */
const PARAPHRASE_SHARE = 0.6;
/** Most sentences with a rule or a wish are shorter. A longer one is usually a paste. */
const MAX_SENTENCE_CHARS = 400;

const MAX_USER_WORDS = 45;
const MAX_CONSTRAINTS = 12;
const MAX_REQUESTS = 3;

/** Signs of logs and code. They are not words of a person. */
const PASTED =
  /^\s*(?:at |\$ |> |\+|\||"[\w-]+":|[{}[\]<]|\d{2}:\d{2}|---|===|import |const |func |def |error\b.*:\d|\d+ (?:failing|passing))|=>|[{};]\s*$|\w\.\w{1,4}:\d+|[✓✔✗×]|\S\s{3,20}\S|read the full transcript at|\b[A-Z_]{4,30}=|\(\d+(?:\.\d+)?m?s\)/;

/** A sentence of a person has a word of grammar, or at least this many plain words. */
const MIN_PLAIN_WORDS = 5;
/** A sentence of a person consists of plain words to this share. Paths, ids and code are not plain. */
const MIN_PLAIN_SHARE = 0.6;
const PLAIN_WORD = /^[\p{L}\p{M}'’"“”(*-]{1,40}[\p{L}\p{M}'’"“”)*.,:;!?-]{0,40}$/u;
/** Without spaces between words, the whole sentence is one word. */
const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

const isProse = (text: string): boolean => {
  if (text.length > MAX_SENTENCE_CHARS || PASTED.test(text) || isBagOfWords(text)) return false;
  const tokens = tokensOf(text);
  if (contentStems(tokens).length < MIN_CONTENT_WORDS) return false;
  if (UNSPACED.test(text)) return true;
  const words = text.split(/\s+/).filter((word) => word !== "");
  const plain = words.filter((word) => PLAIN_WORD.test(word)).length;
  const hasGrammar = tokens.some((token) => !isContentToken(token) && !/^\d/.test(token) && token.length > 1);
  return plain >= words.length * MIN_PLAIN_SHARE && (hasGrammar || plain >= MIN_PLAIN_WORDS);
};

/** Returns the sentences that the user wrote themselves, without logs, code and long pastes. */
export function userSentences(view: SessionView): UserSentence[] {
  const seen = new Set<string>();
  const sentences: UserSentence[] = [];
  for (const turn of view.turns) {
    if (turn.type !== "user") continue;
    for (const text of ownSentences(turn.text)) {
      const form = normalForm(text);
      if (seen.has(form)) continue;
      seen.add(form);
      sentences.push({ text, turn });
    }
  }
  return sentences;
}

/** A message in which fewer lines are prose is a paste with an introduction. */
const MIN_PROSE_LINES_SHARE = 0.5;

/** A line of this length may be wrapped. A shorter line ends on purpose. */
const MIN_WRAPPED_CHARS = 50;

/** Joins the lines of a text that an editor or a terminal wrapped. */
function unwrapped(text: string): string {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const last = lines.at(-1);
    const isWrapped =
      last !== undefined && last.length >= MIN_WRAPPED_CHARS && /[^.!?:]\s*$/.test(last.slice(-2));
    if (isWrapped && /^[\p{Ll}(]/u.test(line)) lines[lines.length - 1] = `${last} ${line}`;
    else lines.push(line);
  }
  return lines.join("\n");
}

/** An announcement of pasted output. The lines after it are not the user's words. */
const ANNOUNCES_PASTE = /\b(?:errors?|output|logs?|stack ?trace|trace|ci run|console)\b[^:\n]{0,30}:/i;
/** A paste has more lines than this. */
const MIN_PASTED_LINES = 3;

function withoutPaste(message: string): string {
  const lines = message.split("\n");
  const at = lines.findIndex((line) => ANNOUNCES_PASTE.test(line));
  const line = lines[at];
  if (line === undefined || lines.length - at <= MIN_PASTED_LINES) return message;
  const colon = ANNOUNCES_PASTE.exec(line);
  const kept = line.slice(0, (colon?.index ?? 0) + (colon?.[0].length ?? 0));
  return [...lines.slice(0, at), kept].join("\n");
}

function ownSentences(raw: string): string[] {
  const message = unwrapped(withoutPaste(raw));
  const lines = message.split("\n").filter((line) => line.trim() !== "");
  const isPaste =
    lines.filter((line) => sentencesOf(line).some(isProse)).length < lines.length * MIN_PROSE_LINES_SHARE;
  if (message.length <= LONG_MESSAGE_CHARS && !isPaste)
    return sentencesOf(withoutCode(message)).filter(isProse);
  if (isPaste) return [lines[0], lines.at(-1)].flatMap((line) => sentencesOf(line ?? "")).filter(isProse);
  const head = sentencesOf(withoutCode(message.slice(0, LONG_MESSAGE_CHARS))).filter(isProse);
  const tail = sentencesOf(withoutCode(message.slice(-LONG_MESSAGE_CHARS / 2))).filter(isProse);
  return [...head.slice(0, LONG_MESSAGE_SENTENCES), ...tail.slice(-1)];
}

/** Single digits are list numbers. Hashes and ids are more than a person repeats. */
const FIGURE = /^\d[\d.]{1,5}$/;

/** Figures of a short sentence. A paraphrase has them all. */
const MAX_FIGURES = 2;
const MAX_FIGURES_CHARS = 200;

const figuresOf = (text: string): string[][] => {
  const figures = [...new Set(tokensOf(text))].filter((token) => FIGURE.test(token));
  return figures.length > MAX_FIGURES || text.length > MAX_FIGURES_CHARS
    ? []
    : figures.map((token) => [token]);
};

/** Probes for what the user said. Constraints are in a kind of their own. */
export function userWordProbes(view: SessionView, sentences: readonly UserSentence[]): Draft[] {
  const perTurn = new Map<UserTurn, UserSentence[]>();
  for (const sentence of sentences) {
    if (isRule(sentence.text) || sentence.text.endsWith(":")) continue;
    const list = perTurn.get(sentence.turn) ?? [];
    perTurn.set(sentence.turn, [...list, sentence]);
  }
  const chosen = [...perTurn.values()].flatMap((list) => spread(list, MAX_PER_MESSAGE));
  return spread(chosen, MAX_USER_WORDS).map(({ text, turn }) => ({
    kind: "user-words",
    question: `What did the user say about "${topicWords(view, text)}"?`,
    text: excerptOf(text, SHOWN_CHARS),
    answer: {
      verbatim: normalForm(text),
      needles: figuresOf(text),
      groups: [wordGroup(view, text, PARAPHRASE_SHARE)],
    },
    entryIds: [turn.entryId],
  }));
}

/** Words of standing rules. A one-time order ("don't commit yet") has a word of `ONE_TIME` too. */
const RULE =
  /\b(?:always|never|must(?: not)?|do not|don't|avoid|from now on|in the future|no longer use|prefer|make sure|only (?:use|when|if)|should (?:always|never|not|only)|is not allowed|without (?:any|using)|stick to|keep in mind|no more)\b/i;
const ONE_TIME =
  /\b(?:yet|for now|to ensure|can always|this time|first|next|i don't|we don't|don't (?:think|know|see|like|want|we|you|remember|need)|why|have to (?:admit|say)|do not (?:know|think|see))\b/i;

const QUESTION = /\?\s*$|^\W*(?:can|could|would|will|should|is|are|do|does|did|why|what|how) /i;

const isRule = (text: string): boolean => RULE.test(text) && !ONE_TIME.test(text) && !QUESTION.test(text);

/** A rule is not in force in a passage with one of these stances. */
const NOT_IN_FORCE: readonly Stance[] = ["cancelled", "done"];

export function constraintProbes(view: SessionView, sentences: readonly UserSentence[]): Draft[] {
  const rules = sentences.filter(({ text }) => isRule(text));
  return spread(rules, MAX_CONSTRAINTS).map(({ text, turn }) => ({
    kind: "constraint",
    question: `Which rule did the user set about "${topicWords(view, text)}"?`,
    text: excerptOf(text, SHOWN_CHARS),
    answer: {
      needles: figuresOf(text),
      groups: [wordGroup(view, text, PARAPHRASE_SHARE)],
      notStances: notSaidIn(text, NOT_IN_FORCE),
      ...(tokensOf(text).some(isNegation) && { negated: true }),
    },
    entryIds: [turn.entryId],
  }));
}

/** Stances that present a text as the purpose of the work. */
const IN_FORCE: readonly Stance[] = ["goal", "current", "next", "pending"];
const GOAL_ONLY: readonly Stance[] = ["goal"];
/** A statement of the purpose is shorter than the request, so fewer words must match. */
const GOAL_SHARE = 0.5;
const MIN_GOAL_WORDS = 4;
/** Polite openings of an order. */
const OPENINGS = new Set(
  "ok okay please now then so yes yeah great let's lets can could you i want would like i'd to we need help me also and".split(
    " ",
  ),
);
const ORDERS = new Set(
  (
    "add analyze build change check clean configure convert create debug delete deploy disable display document enable " +
    "extend extract find fix generate implement improve install investigate look make merge migrate move port publish " +
    "refactor remove rename replace review rewrite run send set show simplify speed split start strengthen support test " +
    "update upgrade work write"
  ).split(" "),
);

export function isOrder(text: string): boolean {
  const verb = tokensOf(text).find((token) => !OPENINGS.has(token));
  return verb !== undefined && ORDERS.has(verb);
}

/** Adds the next sentence to an order such as "Implement this plan:". */
function withObject(order: UserSentence, sentences: readonly UserSentence[]): UserSentence {
  const next = sentences[sentences.indexOf(order) + 1];
  if (!order.text.endsWith(":") || next === undefined || next.turn !== order.turn) return order;
  return { ...order, text: `${order.text} ${next.text}` };
}

/** Probes for the requests that the session is about: the first one and the newest ones. */
export function requestProbes(view: SessionView, sentences: readonly UserSentence[]): Draft[] {
  const orders = sentences
    .filter(({ text }) => isOrder(text) && !isRule(text))
    .map((sentence) => withObject(sentence, sentences))
    .filter(({ text }) => contentStems(tokensOf(text)).length >= MIN_GOAL_WORDS);
  const [first] = orders;
  if (first === undefined) return [];
  const newest = orders.slice(1).slice(1 - MAX_REQUESTS);
  return [first, ...newest].map((sentence) => ({
    kind: "request",
    question: `What is the goal of the work on "${topicWords(view, sentence.text)}"?`,
    text: excerptOf(sentence.text, SHOWN_CHARS),
    answer: {
      needles: [],
      groups: [wordGroup(view, sentence.text, GOAL_SHARE)],
      stances: sentence === first ? GOAL_ONLY : IN_FORCE,
      notStances: notSaidIn(sentence.text, ["cancelled"]),
    },
    entryIds: [sentence.turn.entryId],
  }));
}
