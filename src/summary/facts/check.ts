import type { Fact, FactKind } from "../../conversation/facts.ts";

/** A needle up to this length could stand inside a longer word or number. */
const BOUNDED_UP_TO_CHARS = 40;
/** Their names end where a longer path, number or address could go on. */
const EXACT_KINDS: ReadonlySet<FactKind> = new Set(["file", "reference", "quantity"]);

/**
 * Which of the facts stand in the texts, by their ids. Each text is made plain once: white space and line breaks
 * count for nothing, nor do the marks of a quotation; all else must be there to the letter.
 */
export function findFacts(facts: readonly Fact[], texts: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const plain = texts.map((text) => plainText(withPathsInFull(text)));
  for (const fact of facts) {
    const needles = (fact.needles ?? [fact.text]).map(plainText).filter((needle) => needle !== "");
    const isExact = EXACT_KINDS.has(fact.kind);
    const isTold = (text: string): boolean => needles.every((needle) => holds(text, needle, isExact));
    if (needles.length > 0 && plain.some(isTold)) found.add(fact.id);
  }
  return found;
}

const QUOTE_MARKS = /^[^\S\n]*(?:>[^\S\n]*)+/gm;

/** On one line, without the marks of a quotation. */
export function plainText(text: string): string {
  const bare = text.includes(">") ? text.replace(QUOTE_MARKS, "") : text;
  return bare.replace(/\s+/g, " ").trim();
}

/** `folder/{one.ts, two.ts}` names two files. */
const GROUPED_PATHS = /([^\s{}"'`(),;]*\/)\{([^{}\n]{1,8000})\}/g;

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

/** `a.ts` stands neither in `a.tsx` nor in `b/a.ts`, and 12 not in 1.12 or 120. */
function isWhole(text: string, at: number, needle: string): boolean {
  const end = at + needle.length;
  if (WORD.test(needle[0] ?? "")) {
    const before = text[at - 1] ?? " ";
    if (WORD.test(before) || (before === "/" && !needle.includes("/"))) return false;
    if (before === "." && /\d/.test(text[at - 2] ?? "") && /\d/.test(needle[0] ?? "")) return false;
  }
  return !(WORD.test(needle.at(-1) ?? "") && WORD.test(text[end] ?? " "));
}
