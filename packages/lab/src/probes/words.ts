/**
 * Words, literals and sentences in one normal form, in which a session and a summary are compared. The normal
 * form has no case, no punctuation, no Markdown emphasis and single spaces.
 */

/** Characters of scripts that write words without spaces. Each character counts as a word. */
const UNSPACED = "\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af";
/** A version or decimal number, one unspaced character, or a run of letters and digits. */
const TOKEN = new RegExp(
  `v?\\d+(?:[.,]\\d+)+|[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{N}_])+(?:'[\\p{L}]+)?`,
  "gu",
);
const GROUPED_DIGITS = /^\d{1,3}(?:,\d{3})+$/;
const EDGE_UNDERSCORES = /^_+|_+$/g;

/** A number with its unit, as in "45s". The number and the unit are two words. */
const NUMBER_WITH_UNIT = /^(\d+)([a-z]{1,12})$/;
/** A version, as in "v20" and "v1.2.3". */
const VERSION = /^v\d[\d.,]*$/;

/** Returns the words and numbers of a text in order and in lower case. */
export function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  for (const [raw] of text.replaceAll("’", "'").toLowerCase().matchAll(TOKEN)) {
    const token = raw.replace(EDGE_UNDERSCORES, "");
    const parts = NUMBER_WITH_UNIT.exec(token);
    if (parts !== null) tokens.push(parts[1] ?? "", parts[2] ?? "");
    else if (VERSION.test(token)) tokens.push(token.slice(1));
    else if (token !== "") tokens.push(GROUPED_DIGITS.test(token) ? token.replaceAll(",", "") : token);
  }
  return tokens;
}

/** Returns the normal form of a text: its tokens with single spaces. */
export const normalForm = (text: string): string => tokensOf(text).join(" ");

const STOP_WORDS = new Set(
  (
    "a an the and or but if then else when while for from to of in on at by with without within into onto over " +
    "under as is are was were be been being am do does did doing done have has had having i me my we us our you your " +
    "it its it's he she they them their this that these those there here what which who whom whose why how where can " +
    "could should would will shall may might must not no nor never don't doesn't didn't isn't aren't wasn't won't " +
    "can't cannot so too very just also only even still yet than again more most some any all both each every other " +
    "another such same own about after before between through during up down out off now ok okay yes yeah please let " +
    "let's lets thanks get got gets give make makes made go going goes want wants need needs like one two first last " +
    "i'm i'll i've you're we're we'll that's there's what's sure think know see look say says said because since " +
    "instead rather therefore however much many few less way thing things something anything everything really"
  ).split(" "),
);

/** Words of one line mean the same to a reader, so an honest paraphrase may swap them. */
const SYNONYMS: readonly (readonly string[])[] = [
  "fix repair correct resolve solve".split(" "),
  "add create introduce implement write build".split(" "),
  "remove delete drop eliminate".split(" "),
  "change update modify edit adjust".split(" "),
  "error failure bug issue problem".split(" "),
  "choose select pick decide".split(" "),
  "use adopt employ".split(" "),
  "avoid prevent".split(" "),
  "function method".split(" "),
  "folder directory".split(" "),
  "check verify review validate confirm inspect".split(" "),
  "run execute invoke".split(" "),
  "keep preserve retain".split(" "),
  "show display print".split(" "),
  "rename move".split(" "),
  "document describe doc documentation".split(" "),
  "config configuration configure setting".split(" "),
];

/** Words of one pair contradict each other. */
const OPPOSITES: readonly (readonly [string, string])[] = [
  ["add", "remove"],
  ["enable", "disable"],
  ["allow", "forbid"],
  ["include", "exclude"],
  ["increase", "decrease"],
  ["start", "stop"],
  ["open", "close"],
  ["show", "hide"],
  ["install", "uninstall"],
  ["pass", "fail"],
  ["merge", "split"],
  ["fixed", "broken"],
];

const SUFFIXES = [
  "ations",
  "ation",
  "ings",
  "ing",
  "edly",
  "ies",
  "ied",
  "ed",
  "es",
  "s",
  "ly",
  "e",
] as const;
/** A shorter rest no longer identifies the word. */
const MIN_STEM = 3;

function strip(word: string): string {
  if (word.length <= MIN_STEM || /[\d_]/.test(word)) return word;
  const bare = word.endsWith("'s") ? word.slice(0, -2) : word;
  const suffix = SUFFIXES.find((end) => bare.endsWith(end) && bare.length - end.length >= MIN_STEM);
  if (suffix === undefined) return bare;
  const stem = bare.slice(0, -suffix.length) + (suffix === "ies" || suffix === "ied" ? "y" : "");
  return stem.length > MIN_STEM && stem.at(-1) === stem.at(-2) ? stem.slice(0, -1) : stem;
}

const CANONICAL = new Map(
  SYNONYMS.flatMap((words) => words.map((word) => [strip(word), strip(words[0] ?? word)] as const)),
);

/** Returns the stem of a token, the same one for synonyms. */
export function stemOf(token: string): string {
  const stem = strip(token);
  return CANONICAL.get(stem) ?? stem;
}

const OPPOSITE_STEMS = new Map(
  OPPOSITES.flatMap(([one, other]) => [
    [stemOf(one), stemOf(other)] as const,
    [stemOf(other), stemOf(one)] as const,
  ]),
);

export const oppositeOf = (stem: string): string | undefined => OPPOSITE_STEMS.get(stem);

/** Shorter tokens are words of grammar in most languages. Single unspaced characters are words. */
const MIN_CONTENT_CHARS = 3;
const UNSPACED_CHAR = new RegExp(`^[${UNSPACED}]$`, "u");
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u");

export const isUnspaced = (text: string): boolean => HAS_UNSPACED.test(text);

export function isContentToken(token: string): boolean {
  if (UNSPACED_CHAR.test(token)) return true;
  return token.length >= MIN_CONTENT_CHARS && !STOP_WORDS.has(token);
}

/** Returns the stems of the content words, each once, in order. */
export function contentStems(tokens: readonly string[]): string[] {
  return [...new Set(tokens.filter(isContentToken).map(stemOf))];
}

const NEGATIONS = new Set(
  (
    "not no never none without avoid avoids avoiding forbid forbidden prohibited cannot nor neither stop refrain skip " +
    "exclude excluding excluded only"
  ).split(" "),
);

export const isNegation = (token: string): boolean => NEGATIONS.has(token) || token.endsWith("n't");

/** Words with which a sentence denies something. "Only" and "avoid" restrict, but deny nothing. */
const DENIALS = new Set(
  "not no never none nobody nothing nor neither cannot false untrue incorrect cancelled canceled withdrew withdrawn refused".split(
    " ",
  ),
);

export const isDenial = (token: string): boolean => DENIALS.has(token) || token.endsWith("n't");

/** Sentences are cut at this length, so that one endless line does not become one sentence. */
const MAX_SENTENCE_CHARS = 600;
/** The bounds keep the search linear on a line of dots. */
const SENTENCE_END = /(?<![/.!?])[.!?]{1,3}["')\]*]{0,3}(?=\s)|[。！？]/gu;

/** Splits prose into sentences. A line break always ends a sentence. */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  for (const line of text.split("\n")) {
    let start = 0;
    for (const match of line.matchAll(SENTENCE_END)) {
      const end = match.index + match[0].length;
      pushSentence(sentences, line.slice(start, end));
      start = end;
    }
    pushSentence(sentences, line.slice(start));
  }
  return sentences;
}

function pushSentence(sentences: string[], sentence: string): void {
  let start = 0;
  while (start < sentence.length) {
    const limit = start + MAX_SENTENCE_CHARS;
    const space = limit < sentence.length ? sentence.lastIndexOf(" ", limit) : -1;
    const end = space > start ? space : limit;
    const part = sentence.slice(start, end).trim();
    if (part !== "") sentences.push(part);
    start = end;
  }
}

/** A line that opens or closes a block of code. Inside a line, such marks are a part of its sentence. */
export const FENCE: RegExp = /^\s*(?:```|~~~)\s*(\w*)/;

/** Removes blocks of code, as a reader of Markdown sees them. */
export function withoutCode(text: string): string {
  const prose: string[] = [];
  let isFenced = false;
  for (const line of text.split("\n")) {
    if (FENCE.test(line)) isFenced = !isFenced;
    else if (!isFenced) prose.push(line);
  }
  return prose.join("\n");
}

/** Shortens a text for a report. */
export const excerptOf = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`;
