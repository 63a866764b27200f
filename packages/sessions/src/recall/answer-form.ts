/**
 * Form of the answer that a question asks for. "Which commit hash …" is answered by a passage with a hash. A
 * passage without one can only be about the same subject.
 */
export type AnswerForm = "hash" | "path" | "url" | "number" | "name";

/**
 * Patterns of the forms. Each has a fixed maximum length, so that hostile texts cannot make them slow. They
 * find nothing inside longer words.
 */
const FORMS: Readonly<Record<AnswerForm, RegExp>> = {
  hash: /(?<![\w-])(?=[a-f]{0,40}\d)(?=\d{0,40}[a-f])[a-f\d]{7,40}(?![\w-])/,
  /** Path with a folder, or the name of a file with an extension. */
  path: /(?<![\w/.\\-])(?:~|\.{1,2}|[A-Za-z]:|[\w.-]{1,64})?[\\/][\w.-]{2,64}|(?<![\w.-])[\w-]{0,64}\.[a-z][a-z\d]{1,7}(?![\w(])/,
  url: /https?:\/\/[\w-]/,
  number: /(?<![\w.])\d{1,15}(?:[.,]\d{1,15})?/,
  /** Name in quotes: a key, an option, a variable. */
  name: /(["'`])[\w$@./:-]{2,80}\1/,
};

const asSet = (words: string): ReadonlySet<string> => new Set(words.split(" "));
const HASH_WORDS = asSet("hash hashes sha");
const URL_WORDS = asSet("url urls link links");
const ASKING_WORDS = asSet("what which");
/** Things that `what` and `which` ask for, by the form of their names. */
const THINGS: Readonly<Record<"path" | "number" | "name", ReadonlySet<string>>> = {
  path: asSet("file files path paths folder folders directory script module"),
  number: asSet("number version port count percentage size amount"),
  name: asSet(
    "key keys option options setting settings flag flags field fields variable variables identifier",
  ),
};
const NUMBER_WORDS = asSet("many much long often big large old");
/** Number of words between `which` and the thing, as in "which configuration file". */
const MAX_WORDS_BETWEEN = 2;

/** Returns the form of the answer that a question asks for, if its words tell. */
export function answerFormOf(words: readonly string[]): AnswerForm | undefined {
  if (words.some((word) => HASH_WORDS.has(word))) return "hash";
  for (const [nth, word] of words.entries()) {
    if (word === "how" && NUMBER_WORDS.has(words[nth + 1] ?? "")) return "number";
    if (!ASKING_WORDS.has(word)) continue;
    for (const next of words.slice(nth + 1, nth + 2 + MAX_WORDS_BETWEEN)) {
      if (URL_WORDS.has(next)) return "url";
      for (const form of ["path", "number", "name"] as const) if (THINGS[form].has(next)) return form;
    }
  }
  return undefined;
}

export const hasForm = (text: string, form: AnswerForm): boolean => FORMS[form].test(text);
