/**
 * Light stemmer for English: removes endings, so that `prefer`, `preferred` and `preference` have one stem.
 * An own implementation, because the package has no dependencies, and because a light one is enough: a shared
 * stem only adds weight to a ranking, and the rules of Porter and Snowball are many times as long. Query and
 * index use the same function, so a stem does not have to be a word. Words in other alphabets are their own
 * stems.
 */
export function stemOf(word: string): string {
  if (word.length < SHORTEST || word.length > LONGEST || !/^[a-z]+$/.test(word)) return word;
  let stem = singular(word);
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const shorter = withoutEnding(stem);
    if (shorter === stem) break;
    stem = shorter;
  }
  return unified(stem);
}

/** Shorter words have no ending that is safe to remove. */
const SHORTEST = 4;
/** Longer words are identifiers or data. */
const LONGEST = 24;
/** Endings stack up, as in `implement-at-ion-s`, but never higher than this. */
const MAX_PASSES = 4;
/** Minimum length of a stem. With less, unrelated words would meet. */
const SHORTEST_STEM = 3;

/**
 * Endings, each with the length that must remain, and the text that replaces it. Of several that fit, the
 * first counts.
 */
const ENDINGS: readonly (readonly [ending: string, remains: number, instead: string])[] = [
  ["cision", 2, "cid"],
  ["ilure", 1, "il"],
  ["ically", 3, "ic"],
  ["ization", 3, "iz"],
  ["isation", 3, "iz"],
  ["encies", 5, ""],
  ["ement", 5, "e"],
  ["ment", 5, ""],
  ["ness", 4, ""],
  ["ency", 5, ""],
  ["ancy", 5, ""],
  ["ence", 5, ""],
  ["ance", 5, ""],
  ["able", 4, ""],
  ["ible", 4, ""],
  ["ity", 5, ""],
  ["ive", 5, ""],
  ["ent", 5, ""],
  ["ant", 5, ""],
  ["ful", 4, ""],
  ["ing", 3, "ing"],
  ["ied", 3, "y"],
  ["ed", 3, "ed"],
  ["er", 4, "er"],
  ["or", 4, "or"],
  ["ly", 4, ""],
  ["val", 4, "v"],
  ["age", 4, ""],
];

function singular(word: string): string {
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|zz)es$/.test(word)) return word.slice(0, -2);
  return /[^aisu]s$|[^s]as$/.test(word) ? word.slice(0, -1) : word;
}

function withoutEnding(word: string): string {
  for (const [ending, remains, instead] of ENDINGS) {
    if (!word.endsWith(ending)) continue;
    const rest = word.slice(0, -ending.length);
    if (rest.length < remains) continue;
    return instead === ending ? withoutDoubled(rest) : rest + instead;
  }
  if (/[st]ion$/.test(word) && word.length >= SHORTEST_STEM + 4) return withoutAt(word.slice(0, -3));
  if (word.endsWith("e") && !word.endsWith("ee") && word.length > SHORTEST_STEM) {
    return withoutAt(word.slice(0, -1));
  }
  return word;
}

/** Reduces the letter that an ending doubled, as in `stopped`. Also removes the `at` of `validated`. */
function withoutDoubled(rest: string): string {
  const doubled = /([bdfgkmnprtv])\1$/.test(rest) && rest.length > SHORTEST_STEM;
  return doubled ? rest.slice(0, -1) : withoutAt(rest);
}

/** Removes the `at` of verbs in -ate, whose nouns in -ation or -ator have the same stem. */
function withoutAt(rest: string): string {
  return /[^aeiou]at$/.test(rest) && rest.length >= SHORTEST_STEM + 3 ? rest.slice(0, -2) : rest;
}

/** Spells British and American forms, and nouns and verbs, in one way. */
function unified(stem: string): string {
  if (stem.length <= SHORTEST_STEM + 1) return stem;
  if (stem.endsWith("our")) return `${stem.slice(0, -3)}or`;
  if (stem.endsWith("ll")) return stem.slice(0, -1);
  if (stem.endsWith("ysis")) return `${stem.slice(0, -3)}z`;
  if (stem.endsWith("ys") || stem.endsWith("is")) return `${stem.slice(0, -1)}z`;
  return stem.endsWith("y") ? `${stem.slice(0, -1)}i` : stem;
}
