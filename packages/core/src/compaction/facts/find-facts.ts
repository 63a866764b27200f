import type { Fact, FactKind } from "../../messages/fact-ledger.ts";

/** A search for facts in texts: word for word, by needles, and files by their paths. */

/** A needle up to this length could stand inside a longer word or number. */
const BOUNDED_UP_TO_CHARS = 40;
/** A longer number or address could go on where they end. */
const EXACT_KINDS: ReadonlySet<FactKind> = new Set(["reference", "quantity"]);

/**
 * Ids of the facts that stand in the texts. Each text is made plain once: white space and line breaks
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

// Texts name paths in full, from some folder on, or several of one folder together.

/** With one kind of slash, however often it was escaped on its way into a text. */
export const slashed = (text: string): string => (text.includes("\\") ? text.replace(/\\+/g, "/") : text);

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const ASCII_IN_PATHS: ReadonlySet<string> = new Set(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.@~+$/-",
);
const FIRST_NOT_ASCII = "\u0080";

/** Nothing stands where the text begins or ends. */
const isInPath = (character: string | undefined): boolean =>
  character !== undefined &&
  (character < FIRST_NOT_ASCII ? ASCII_IN_PATHS.has(character) : LETTER_OR_DIGIT.test(character));

/** Of a name that goes on: a full stop ends a sentence unless more follows it. */
const goesOn = (text: string, end: number): boolean => {
  const next = text[end];
  if (next === ".") return isInPath(text[end + 1]) && text[end + 1] !== ".";
  return next !== "/" && isInPath(next);
};

/** Data in one line has slashes too, and goes on for ever: no folder is so long, and no file is named so often. */
const LONGEST_LEAD_CHARS = 512;
const MAX_PLACES = 5_000;

/** The paths that stand in a text. Of files with the same name it is gone through once. */
class TextPaths {
  readonly #text: string;
  /** By the name of a file: what stands before it, each once. */
  readonly #leads = new Map<string, ReadonlySet<string>>();

  constructor(text: string) {
    this.#text = slashed(text);
  }

  /**
   * True if the text names the file: by its whole path, or by its end from some folder on. A bare name is enough
   * only where the text tells its folder too, or where that is all there is of the path.
   */
  names(path: string): boolean {
    const cut = path.lastIndexOf("/") + 1;
    const folder = path.slice(0, cut);
    let hasBareName = false;
    for (const lead of this.#leadsOf(path.slice(cut))) {
      if (lead === folder || tellsFolder(lead, folder)) return true;
      hasBareName ||= lead === "";
    }
    if (hasBareName && cut > 1 && this.#namesFolder(path.slice(0, cut - 1))) return true;
    return !isPlain(path) && this.#tells(path);
  }

  /** Spaces and signs in it end what is taken for a path. */
  #tells(path: string): boolean {
    const text = this.#text;
    for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
      if (!goesOn(text, at + path.length)) return true;
    }
    return false;
  }

  #leadsOf(name: string): ReadonlySet<string> {
    const known = this.#leads.get(name);
    if (known !== undefined) return known;
    const leads = new Set<string>();
    const text = this.#text;
    let places = 0;
    for (let at = name === "" ? -1 : text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
      if (goesOn(text, at + name.length)) continue;
      if (++places > MAX_PLACES) break;
      leads.add(leadBefore(text, at, isInPath).replace(FROM_HERE, ""));
    }
    this.#leads.set(name, leads);
    return leads;
  }

  /** As itself, and not as a part of another path. */
  #namesFolder(folder: string): boolean {
    const text = this.#text;
    for (let at = text.indexOf(folder); at !== -1; at = text.indexOf(folder, at + 1)) {
      if (!isInPath(text[at - 1]) && !isInPath(text[at + folder.length])) return true;
    }
    return false;
  }
}

function leadBefore(text: string, at: number, isPart: (character: string | undefined) => boolean): string {
  const farthest = Math.max(0, at - LONGEST_LEAD_CHARS);
  let from = at;
  while (from > farthest && isPart(text[from - 1])) from--;
  return text.slice(from, at);
}

/** Of nothing but what paths mostly are of. Others stand alone and in full. */
export const isPlain = (path: string): boolean =>
  !path.endsWith("/") &&
  path
    .replace(/^[A-Za-z]:/, "")
    .split("")
    .every(isInPath);
const FROM_HERE = /^(?:(?:\.{1,2}|~)\/)+/;
const FROM_ROOT = /^(?:\/|[A-Za-z]:)/;

/** The end of the folder, from one of its names on; or the folder with more in front, where it begins anywhere. */
function tellsFolder(lead: string, folder: string): boolean {
  if (lead === "" || folder === "" || !lead.endsWith("/")) return false;
  if (lead.length > folder.length) return lead.endsWith(FROM_ROOT.test(folder) ? folder : `/${folder}`);
  const before = folder[folder.length - lead.length - 1];
  // Before a slash only a drive can stand; before a name a slash, or what no path goes on with, such as a space.
  return (
    folder.endsWith(lead) && (lead.startsWith("/") ? before === ":" : before === "/" || !isInPath(before))
  );
}

const FOLDER_LINE = /^Files under (\S+\/): (.*)$/gm;
/** `folder/{one.ts, two.ts}` names two files. */
const GROUP = /\/\{([^{}\n]{1,8000})\}/g;
const isInFolder = (character: string | undefined): boolean => !/[\s{}"'`(),;]/.test(character ?? " ");

/** A text with the paths that it tells together, each in full. */
function withPathsInFull(text: string): string {
  const paths: string[] = [];
  if (text.includes("/{")) {
    for (const { 1: names = "", index } of text.matchAll(GROUP)) {
      const folder = leadBefore(text, index, isInFolder);
      for (const name of names.split(",")) paths.push(`${folder}/${name.trim()}`);
    }
  }
  if (text.includes("Files under ")) {
    for (const [, folder = "", files = ""] of text.matchAll(FOLDER_LINE)) {
      for (const name of files.split(/[,.;]? /)) if (!name.includes("/")) paths.push(`${folder}${name}`);
    }
  }
  return paths.length === 0 ? text : `${text}\n${paths.join("\n")}`;
}
