import type { Fact, FactKind } from "../../conversation/facts.ts";

/** A needle up to this length could stand inside a longer word or number. */
const BOUNDED_UP_TO_CHARS = 40;
/** The names of such facts end where a longer path, number or address could go on. */
const EXACT_KINDS: ReadonlySet<FactKind> = new Set(["file", "reference", "quantity"]);

/**
 * Which of the facts stand in the texts, by their ids. Each text is made plain once: white space and line breaks
 * count for nothing, nor do the marks of a quotation; all else must be there to the letter.
 */
export function findFacts(facts: readonly Fact[], texts: readonly string[]): ReadonlySet<string> {
  const plain = texts.map((text) => plainText(withPathsInFull(text)));
  const found = new Set<string>();
  for (const fact of facts) {
    if (plain.some((text) => holdsFact(text, fact))) found.add(fact.id);
  }
  return found;
}

/** `text` is plain already. */
function holdsFact(text: string, fact: Fact): boolean {
  const needles = (fact.needles ?? [fact.text]).map(plainText).filter((needle) => needle !== "");
  return needles.length > 0 && needles.every((needle) => holds(text, needle, EXACT_KINDS.has(fact.kind)));
}

const QUOTE_MARKS = /^[^\S\n]*(?:>[^\S\n]?)+/gm;

export function plainText(text: string): string {
  const bare = text.includes(">") ? text.replace(QUOTE_MARKS, "") : text;
  return bare.replace(/\s+/g, " ").trim();
}

/** `folder/{one.ts, two.ts}` names two files. */
const GROUPED_PATHS = /([^\s{}"'`(),;]*\/)\{([^{}\n]{1,4000})\}/g;

function withPathsInFull(text: string): string {
  if (!text.includes("/{")) return text;
  const paths: string[] = [];
  for (const [, folder = "", names = ""] of text.matchAll(GROUPED_PATHS)) {
    for (const name of names.split(",")) paths.push(`${folder}${name.trim()}`);
  }
  return paths.length === 0 ? text : `${text}\n${paths.join("\n")}`;
}

function holds(text: string, needle: string, isExact: boolean): boolean {
  if (!isExact && needle.length > BOUNDED_UP_TO_CHARS) return text.includes(needle);
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) {
    if (isWhole(text, at, needle)) return true;
  }
  return false;
}

const WORD = /[A-Za-z0-9_]/;

/** No letter or digit goes on where the needle begins or ends with one; `a.ts` is not in `a.tsx`, nor 12 in 1.12. */
function isWhole(text: string, at: number, needle: string): boolean {
  const before = text[at - 1] ?? " ";
  const after = text[at + needle.length] ?? " ";
  if (WORD.test(needle[0] ?? "") && (WORD.test(before) || (before === "/" && !needle.includes("/"))))
    return false;
  return !(WORD.test(needle.at(-1) ?? "") && WORD.test(after));
}
