import { isDenial, tokensOf } from "./words.ts";

/** Phrases in normal form that call a whole statement false. */
const FALSIFIES = [
  ...["not true", "never true", "untrue", "not the case", "never the case", "this is false", "it is false"],
  ...["that is false", "no longer applies", "withdrew this", "took this back", "does not want this"],
];

export interface Polarity {
  /** The sentence denies something. */
  readonly isDenied: boolean;
  /** The sentence calls a statement false as a whole. It states nothing. */
  readonly isFalsified: boolean;
}

/** Paths and compounds such as "never-there.ts" deny nothing. */
const COMPOUND = /\w[/\\._-]\w/;

/** A mark such as "[cancelled]" gives the state of a quote, which stances read. */
const MARK = /\[[^\][]{0,100}\]/g;

export const polarityOf = (text: string): Polarity =>
  polarityOfTokens(
    tokensOf(
      text
        .replace(MARK, " ")
        .split(" ")
        .filter((word) => !COMPOUND.test(word))
        .join(" "),
    ),
  );

function polarityOfTokens(tokens: readonly string[]): Polarity {
  const form = ` ${tokens.join(" ")} `;
  return {
    isDenied: tokens.some(isDenial),
    isFalsified: FALSIFIES.some((phrase) => form.includes(` ${phrase} `)),
  };
}

/** Returns true if a sentence calls everything false that follows its colon on the line. */
export const falsifiesRest = (sentence: string): boolean =>
  polarityOf(sentence.slice(0, sentence.lastIndexOf(": ") + 1)).isFalsified;
