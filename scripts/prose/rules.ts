// Two rules of plain English that a script can check: how comments open, and phrases that no reader should meet.
import type { Text, Texts } from "./texts.ts";

/**
 * A comment must not open like this. A definition starts with a noun, and a description of a function with a
 * verb.
 */
const OPENER = /^(?:What|Whoever|Whatever|Where|Those)\b/;

/**
 * Maximum share of comment lines that may open with such a word. It is not 0, because a wrapped sentence may
 * continue with such a word.
 */
export const MAX_OPENERS_SHARE = 0.03;

/** Each phrase to avoid, with the words of the field to use instead. */
const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\b(?:go|goes|going|went|gone) on\b(?! to\b)/i, "continue, resume"],
  [/\bfor ever\b/i, "without end, permanently"],
  [/\bmend(?:s|ed|ing)?\b/i, "repair, fix"],
  [/\b(?:re)?told\b/i, "report, say, show"],
  [/\b(?:take|takes|taken|took|taking) in\b/i, "read, accept, ingest"],
  [/\b(?:stand|stands|stood|standing) for\b/i, "represent, mean, replace"],
  [/\b(?:ask|asks|asked|asking|give|gives|gave|given|by|with|without|your|'s) leave\b/i, "permission"],
  [/\bby hand\b/i, "manually"],
  [/\bkinds? of answers?\b/i, "the type of the answer"],
];

/**
 * Files that may contain the old wording. The page quotes it. The sources recognize such words in files or in
 * texts of people.
 */
const QUOTES_OLD_WORDING: readonly string[] = [
  "docs/design/0011-prompts.md",
  "packages/core/src/compaction/summary/readers/said-words.ts",
  "packages/core/src/compaction/summary/readers/topic-words.ts",
  "packages/core/src/compaction/summary/former-wording.ts",
  "packages/notes/src/former-guides.ts",
];

export interface Openers {
  readonly lines: number;
  readonly found: readonly Text[];
}

export function findOpeners(comments: readonly Text[]): Openers {
  const lines = comments.flatMap(({ file, line, text }) =>
    text.split("\n").map((each, at) => ({ file, line: line + at, text: each.trim() })),
  );
  const words = lines.filter(({ text }) => text !== "");
  return { lines: words.length, found: words.filter(({ text }) => OPENER.test(text)) };
}

export interface FoundPhrase extends Text {
  readonly phrase: string;
  readonly instead: string;
}

/**
 * Finds phrases to avoid in pages, strings and comments. Comments count too, because the published types
 * contain them.
 */
export function findPhrases({
  comments,
  literals,
  pages,
}: Pick<Texts, "comments" | "literals" | "pages">): readonly FoundPhrase[] {
  const texts = [...comments, ...literals, ...pages].filter(({ file }) => !QUOTES_OLD_WORDING.includes(file));
  return texts.flatMap((each) =>
    PHRASES.flatMap(([pattern, instead]) => {
      const [phrase] = pattern.exec(each.text.replace(/\s+/g, " ")) ?? [];
      return phrase === undefined ? [] : [{ ...each, phrase, instead }];
    }),
  );
}
