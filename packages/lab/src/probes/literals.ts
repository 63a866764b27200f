import type { Turn } from "./read-session.ts";
import { type SessionView, SHOWN_CHARS, spread, topicWords } from "./session-view.ts";
import { isBagOfWords } from "./stuffing.ts";
import type { Probe, WordGroup } from "./types.ts";
import type { UserSentence } from "./user-words.ts";
import {
  contentStems,
  excerptOf,
  isDenial,
  normalForm,
  sentencesOf,
  tokensOf,
  withoutCode,
} from "./words.ts";

type Draft = Omit<Probe, "id">;

const MAX_NUMBERS = 15;
const MAX_NAMES = 16;
/** A session with few important literals is asked for others too. */
const MIN_NUMBERS = 5;
const MIN_NAMES = 10;

interface Mention {
  readonly literal: string;
  readonly sentence: string;
  readonly turn: Turn;
}

interface Counted extends Mention {
  /** Number of texts of the user and the agent that contain the literal. */
  readonly texts: number;
  readonly fromUser: boolean;
  /** Stems of all sentences with the literal. */
  readonly context: ReadonlySet<string>;
  /** True if a sentence with the literal denies something. */
  readonly isDenied: boolean;
}

interface Found {
  best: Mention;
  words: number;
  readonly entries: Set<number>;
  fromUser: boolean;
  isDenied: boolean;
  readonly context: Set<string>;
}

/** Collects literals from the prose of a session. The mention with the most context words is kept. */
function collect(
  view: SessionView,
  own: readonly UserSentence[],
  literalsOf: (sentence: string) => readonly string[],
): Counted[] {
  const typed = new Map<Turn, string[]>();
  for (const { turn, text } of own) typed.set(turn, [...(typed.get(turn) ?? []), text]);
  const found = new Map<string, Found>();
  for (const turn of view.turns) {
    const sentences = turn.type === "assistant" ? proseOf(turn.text) : (typed.get(turn) ?? []);
    for (const sentence of sentences) {
      if (isBagOfWords(sentence)) continue;
      const form = ` ${normalForm(sentence)} `;
      const isDenied = tokensOf(sentence).some(isDenial);
      for (const literal of literalsOf(sentence)) {
        // A part of a longer word is no literal of its own.
        if (!form.includes(` ${normalForm(literal)} `)) continue;
        const stems = contentStems(tokensOf(sentence));
        const words = stems.length;
        const known = found.get(literal);
        const entry = known ?? {
          best: { literal, sentence, turn },
          words,
          entries: new Set(),
          fromUser: false,
          isDenied: false,
          context: new Set(),
        };
        for (const stem of stems) entry.context.add(stem);
        entry.entries.add(turn.at);
        entry.isDenied ||= isDenied;
        entry.fromUser ||= turn.type === "user";
        if (words > entry.words) Object.assign(entry, { best: { literal, sentence, turn }, words });
        found.set(literal, entry);
      }
    }
  }
  return [...found.values()].map(({ best, entries, fromUser, isDenied, context }) => ({
    ...best,
    context,
    texts: entries.size,
    fromUser,
    isDenied,
  }));
}

const MAX_SENTENCE_CHARS = 320;
const MIN_CONTEXT_WORDS = 3;
/** Pasted logs have many numbers that nobody will ask for. */
const LOG_LINE = /^\s*(?:at |\$ |\||\d{4}-\d\d|\d\d:\d\d|[+\-@]{2,}|===)|\w:\d+:\d+|[{};]\s*$/;

function proseOf(text: string): string[] {
  return sentencesOf(withoutCode(text)).filter((sentence) => {
    if (sentence.length > MAX_SENTENCE_CHARS || LOG_LINE.test(sentence)) return false;
    return contentStems(tokensOf(sentence)).length >= MIN_CONTEXT_WORDS;
  });
}

/** Forms of numbers that a person asks for, each with the question for it. */
interface NumberForm {
  readonly form: RegExp;
  readonly ask: (topic: string) => string;
  /** True if one mention by the agent is enough. Counts and hashes change all the time. */
  readonly isLasting: boolean;
}

const NUMBER_FORMS: readonly NumberForm[] = [
  {
    form: /\bport (\d{2,5})\b/gi,
    ask: (topic) => `Which port belongs to "${topic}"?`,
    isLasting: true,
  },
  {
    form: /(\d+(?:\.\d+)?)\s?%/g,
    ask: (topic) => `What percentage was stated for "${topic}"?`,
    isLasting: true,
  },
  {
    form: /(?<![\w.])(?:v|(?:node|go|python|java|ruby|rust|php|react|next\.js|postgres|version) v?)(\d+(?:\.\d+)*)\b/gi,
    ask: (topic) => `Which version was stated for "${topic}"?`,
    isLasting: true,
  },
  {
    form: /\bv?(\d+\.\d+\.\d+)\b/g,
    ask: (topic) => `Which version was stated for "${topic}"?`,
    isLasting: true,
  },
  {
    form: /\b(?:limit|threshold|timeout|maximum|minimum|max|min|default|at most|at least|up to|size|budget) (?:of |is |to |= ?|was )?(\d+(?:[.,]\d+)*)\b/gi,
    ask: (topic) => `Which limit was stated for "${topic}"?`,
    isLasting: true,
  },
  {
    form: /[<>]=? ?(\d+(?:\.\d+)?)\b/g,
    ask: (topic) => `Which threshold was stated for "${topic}"?`,
    isLasting: true,
  },
  {
    form: /(?:#|\bpull\/|\bissues?\/|\bPR )(\d{1,6})\b/g,
    ask: (topic) => `Which issue or pull request is about "${topic}"?`,
    isLasting: false,
  },
  {
    form: /(?<![\w-])((?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40})(?![\w-])/g,
    ask: (topic) => `Which commit or id belongs to "${topic}"?`,
    isLasting: false,
  },
  {
    form: /\b(\d+(?:[.,]\d+)*)[ -]?(?:ms|milliseconds?|s|secs?|seconds?|min|minutes?|hours?|days?|kb|mb|gb|bytes?|chars?|characters?|lines?|tokens?|px|items?|rows?|users?|requests?|retries|attempts?|times|tests?|files?|entries|errors?|warnings?|steps?|phases?)\b/gi,
    ask: (topic) => `Which quantity was stated for "${topic}"?`,
    isLasting: false,
  },
];
/** Single digits count list items, so only a longer number or one with a point identifies a fact. */
const MIN_NUMBER_CHARS = 2;
const MIN_NUMBER_TEXTS = 2;

function numbersIn(sentence: string): string[] {
  const found = NUMBER_FORMS.flatMap(({ form }) =>
    [...sentence.matchAll(form)].map((match) => match[1] ?? ""),
  );
  return [...new Set(found.filter((number) => number.length >= MIN_NUMBER_CHARS).map(normalForm))];
}

function formOf(number: string, sentence: string): NumberForm | undefined {
  return NUMBER_FORMS.find(({ form }) =>
    [...sentence.matchAll(form)].some((match) => normalForm(match[1] ?? "") === number),
  );
}

/** A literal means nothing alone, so the passage must share context words. Two or three rare words are enough. */
const CONTEXT_SHARE = 0.25;
/** With fewer words, the sentence of a name gives no context. */
const MIN_NAME_CONTEXT = 2;

/** The words of any mention count. As many are needed as the richest sentence has in its share. */
function contextOf(view: SessionView, { literal, sentence, context }: Counted): WordGroup {
  const own = new Set([...normalForm(literal).split(" "), ...contentStems(tokensOf(literal))]);
  const weigh = (stems: Iterable<string>): [string, number][] =>
    [...stems].filter((stem) => !own.has(stem)).map((stem) => [stem, view.weightOf(stem)]);
  const sum = (words: readonly (readonly [string, number])[]): number =>
    words.reduce((total, [, weight]) => total + weight, 0);
  const words = weigh(context);
  const needed = CONTEXT_SHARE * sum(weigh(contentStems(tokensOf(sentence))));
  return { words, share: words.length === 0 ? 0 : needed / sum(words) };
}

export function numberProbes(view: SessionView, own: readonly UserSentence[]): Draft[] {
  const mentions = atLeast(
    MIN_NUMBERS,
    collect(view, own, numbersIn),
    ({ literal, sentence, texts, fromUser }) =>
      fromUser || texts >= MIN_NUMBER_TEXTS || formOf(literal, sentence)?.isLasting === true,
  );
  const chosen = mentions.sort(byImportance).slice(0, MAX_NUMBERS);
  return chosen.sort(byPlace).map((mention) => {
    const { literal, sentence, turn, isDenied } = mention;
    const topic = topicWords(view, sentence, [literal]);
    return {
      kind: "number",
      question: formOf(literal, sentence)?.ask(topic) ?? `Which number was stated for "${topic}"?`,
      text: excerptOf(sentence, SHOWN_CHARS),
      answer: { needles: [[literal]], groups: [contextOf(view, mention)], denies: isDenied },
      entryIds: [turn.entryId],
    };
  });
}

/** Returns the important mentions, and as many others as a short list needs. */
function atLeast(
  count: number,
  mentions: readonly Counted[],
  isImportant: (mention: Counted) => boolean,
): Counted[] {
  const important = mentions.filter(isImportant);
  const others = mentions.filter((mention) => !isImportant(mention));
  return [...important, ...spread(others, Math.max(0, count - important.length))];
}

const byImportance = (a: Counted, b: Counted): number =>
  Number(b.fromUser) - Number(a.fromUser) || b.texts - a.texts || a.turn.at - b.turn.at;

const byPlace = (a: Mention, b: Mention): number => a.turn.at - b.turn.at;

/** Code names, and product names inside a sentence. A capital at the start of a sentence proves nothing. */
const CODE_NAME = /`([A-Za-z_][\w.]{2,60})(?:\(\))?`/g;
const CAMEL_OR_SNAKE =
  /(?<![\w./\\-])([a-z]+(?:[A-Z][a-z0-9]+){1,8}|(?:[A-Z][a-z0-9]+){2,8}|[a-z]+(?:_[a-z0-9]+){1,8}|[A-Z]{2,20}(?:_[A-Z0-9]+){1,8})(?![\w/\\-]|\.\w)/g;
const PRODUCT_NAME = /[a-z,] ((?:[A-Z][a-zA-Z]{2,20})(?: [A-Z][a-zA-Z]{2,20}){0,2})(?![\w/\\-]|\.\w)/g;
const FILE_NAME =
  /\.(?:ts|tsx|js|jsx|mjs|cjs|py|go|rs|md|mdx|json|jsonl|yml|yaml|toml|css|html|ex|exs|sql|sh|txt|ipynb|lock|svg|png|xml|cs|java|rb|php|c|h|cpp)$/i;
/** A name in one text only is a detail. */
const MIN_NAME_TEXTS = 2;
/** A name of code has a mark or a capital inside. */
const CODE_SHAPE = /[_.]|[a-z][A-Z]/;
/** A list of names says nothing about one of them. */
const ENUMERATION = /(?:,[^,]{1,30}){4}/;
/** Names of the agent, its tools and dates say nothing about the work. */
const NOT_NAMES = new Set(
  "bash read edit write grep glob task monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november december english claude user true false null undefined".split(
    " ",
  ),
);
/** Plain words of one case, short abbreviations such as "SHA", and hashes are no names. */
const PLAIN = /^(?:[a-z]+|[A-Z]{1,5}s?|[0-9a-f]{7,40})$/;

function namesIn(sentence: string): string[] {
  const forms = ENUMERATION.test(sentence)
    ? [CODE_NAME, CAMEL_OR_SNAKE]
    : [CODE_NAME, CAMEL_OR_SNAKE, PRODUCT_NAME];
  const found = forms.flatMap((form) => [...sentence.matchAll(form)].map((match) => match[1] ?? ""));
  return [...new Set(found)].filter(
    (name) => !NOT_NAMES.has(name.toLowerCase()) && !FILE_NAME.test(name) && !PLAIN.test(name),
  );
}

/** A capitalized word that the session also writes in lower case is a plain word in a title. */
function isPlainTitle(view: SessionView, name: string): boolean {
  if (!/^[A-Z][a-z]+(?: [A-Z][a-z]+)*$/.test(name)) return false;
  return name
    .toLowerCase()
    .split(" ")
    .every((word) => view.lowerCaseWords.has(word));
}

export function nameProbes(view: SessionView, own: readonly UserSentence[]): Draft[] {
  const all = collect(view, own, namesIn).filter(({ literal }) => !isPlainTitle(view, literal));
  const mentions = atLeast(
    MIN_NAMES,
    all.filter(({ literal, texts }) => texts >= MIN_NAME_TEXTS || CODE_SHAPE.test(literal)),
    ({ texts, fromUser }) => texts >= MIN_NAME_TEXTS || fromUser,
  );
  const ranked = mentions.sort((a, b) => b.texts - a.texts || byPlace(a, b));
  const unique = [...new Map(ranked.map((mention) => [normalForm(mention.literal), mention])).values()];
  // Half of the names are the most frequent ones. The rest is spread over the session.
  const frequent = unique.slice(0, MAX_NAMES / 2);
  const others = spread(unique.slice(MAX_NAMES / 2).sort(byPlace), MAX_NAMES / 2);
  return [...frequent, ...others].sort(byPlace).map((mention) => {
    const { literal, sentence, turn, isDenied } = mention;
    const context = contextOf(view, mention);
    return {
      kind: "name",
      question: `${nameQuestion(literal)} "${topicWords(view, sentence, [literal])}"?`,
      text: excerptOf(sentence, SHOWN_CHARS),
      answer: {
        needles: [[normalForm(literal)]],
        groups: context.words.length < MIN_NAME_CONTEXT ? [] : [context],
        denies: isDenied,
      },
      entryIds: [turn.entryId],
    };
  });
}

const nameQuestion = (name: string): string =>
  /^[A-Z][a-z]+(?: [A-Z]|$)/.test(name)
    ? "Which name or technology was mentioned for"
    : "Which identifier in the code belongs to";
