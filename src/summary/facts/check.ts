import type { Fact, FactKind } from "../../conversation/fact-ledger.ts";
import { TextPaths, withPathsInFull } from "./paths.ts";

/** A needle up to this length could stand inside a longer word or number. */
const BOUNDED_UP_TO_CHARS = 40;
/** A longer number or address could go on where they end. */
const EXACT_KINDS: ReadonlySet<FactKind> = new Set(["reference", "quantity"]);

/**
 * Which of the facts stand in the texts, by their ids. Each text is made plain once: white space and line breaks
 * count for nothing, nor do the marks of a quotation; all else must be there to the letter.
 */
export function findFacts(facts: readonly Fact[], texts: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const searched = texts.map((text) => {
    const plain = plainText(withPathsInFull(text));
    return { plain, paths: new TextPaths(plain) };
  });
  for (const fact of facts) {
    const needles = (fact.needles ?? [fact.text]).map(plainText).filter((needle) => needle !== "");
    if (needles.length > 0 && searched.some((text) => tells(text, fact.kind, needles))) found.add(fact.id);
  }
  return found;
}

interface SearchedText {
  readonly plain: string;
  readonly paths: TextPaths;
}

function tells({ plain, paths }: SearchedText, kind: FactKind, needles: readonly string[]): boolean {
  if (kind === "file") return needles.every((needle) => paths.names(needle));
  return needles.every((needle) => holds(plain, needle, EXACT_KINDS.has(kind)));
}

/** Within one line each, so that a run of line breaks is gone through once. */
const QUOTE_MARKS = /^[^\S\n\r\u2028\u2029]*(?:>[^\S\n\r\u2028\u2029]*)+/gm;

/** On one line, without the marks of a quotation. */
export function plainText(text: string): string {
  const bare = text.includes(">") ? text.replace(QUOTE_MARKS, "") : text;
  return bare.replace(/\s+/g, " ").trim();
}

function holds(text: string, needle: string, isExact: boolean): boolean {
  if (!isExact && needle.length > BOUNDED_UP_TO_CHARS) return text.includes(needle);
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) {
    if (isWhole(text, at, needle)) return true;
  }
  return false;
}

const WORD = /[A-Za-z0-9_]/;

/** 12 stands neither in 1.12 nor in 120. */
function isWhole(text: string, at: number, needle: string): boolean {
  const end = at + needle.length;
  if (WORD.test(needle[0] ?? "")) {
    const before = text[at - 1] ?? " ";
    if (WORD.test(before)) return false;
    if (before === "." && /\d/.test(text[at - 2] ?? "") && /\d/.test(needle[0] ?? "")) return false;
  }
  return !(WORD.test(needle.at(-1) ?? "") && WORD.test(text[end] ?? " "));
}
