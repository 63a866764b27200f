import type { Fact, FactKind } from "../../messages/fact-ledger.ts";

/**
 * Searches texts for facts. A fact is found verbatim or by needles, which are pieces that must occur. A file
 * is found by its path.
 */

/** A needle up to this length must be a whole word or number, because it could occur inside a longer one. */
const BOUNDED_UP_TO_CHARS = 40;
/**
 * Facts of these kinds must be whole words, because their text could be the start of a longer number or
 * address.
 */
const EXACT_KINDS: ReadonlySet<FactKind> = new Set(["reference", "quantity"]);

/**
 * Returns the ids of the facts that occur in the texts. Each text is normalized once, so differences in white
 * space, line breaks, bold marks and `>` marks at line starts do not matter. Everything else must match exactly.
 */
export function findFacts(facts: readonly Fact[], texts: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const searched = texts.map((text) => {
    const plain = withoutBold(plainText(withPathsInFull(text)));
    return { plain, paths: new TextPaths(plain), messages: new WholeMessages(text) };
  });
  for (const fact of facts) {
    const needles = (fact.needles ?? [fact.text])
      .map((needle) => withoutBold(plainText(needle)))
      .filter((needle) => needle !== "");
    if (needles.length > 0 && searched.some((text) => mentions(text, fact.kind, needles))) found.add(fact.id);
  }
  return found;
}

/** A message of one word is found only as a whole message, because "yes" and "go" occur in any text. */
const isOneWord = (message: string): boolean =>
  message.length <= LONGEST_WORD_CHARS && !message.includes(" ");
/** A longer word is a name or a path, or a sentence without spaces. */
const LONGEST_WORD_CHARS = 24;

/** Messages in a text. The text is split once for all messages of one word. */
class WholeMessages {
  readonly #text: string;
  #lines: ReadonlySet<string> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns true if a line of the text is this message, with or without quotation marks. */
  has(message: string): boolean {
    this.#lines ??= new Set(this.#text.split(/[\n\r\u2028\u2029]/).flatMap(messagesIn));
    return this.#lines.has(message);
  }
}

/** List mark, label or id before a message, as in "- (after interrupting the assistant) " or "[d1 active] > ". */
const BEFORE_MESSAGE =
  /^\s*(?:>\s*)*(?:(?:[-*•]|\d{1,3}[.)])\s+)?(?:\([^()]{0,80}\) |\[[^\][]{0,80}\] )?(?:>\s*)*/;
const IN_QUOTES = /^["“]([^"“”]+)["”](?=$|[\s.,;:)])/;
/** Maximum length of a line that can be a message of one word with its marks. */
const LINE_CHARS = 240;

/** Returns the messages that a line can be: all of its words, or the quotation at its start. */
function messagesIn(line: string): readonly string[] {
  const start = line.slice(0, LINE_CHARS);
  const words = plainText(start.replace(BEFORE_MESSAGE, ""));
  const quoted = IN_QUOTES.exec(words)?.[1];
  if (line.length > LINE_CHARS) return quoted === undefined ? [] : [quoted];
  return [plainText(start), words, ...(quoted === undefined ? [] : [quoted])].filter(isOneWord);
}

const withoutBold = (text: string): string => text.replaceAll("**", "");

interface SearchedText {
  readonly plain: string;
  readonly paths: TextPaths;
  readonly messages: WholeMessages;
}

function mentions(
  { plain, paths, messages }: SearchedText,
  kind: FactKind,
  needles: readonly string[],
): boolean {
  if (kind === "file") return needles.every((needle) => paths.names(needle));
  const [said = ""] = needles;
  if (kind === "directive" && needles.length === 1 && isOneWord(said)) return messages.has(said);
  const answer = kind === "decision" && needles.length > 1 ? needles.at(-1) : undefined;
  return needles.every((needle) =>
    needle === answer && isOneWord(answer)
      ? messages.has(answer) || plain.includes(`→ ${answer}`) || plain.includes(`"${answer}"`)
      : holds(plain, needle, EXACT_KINDS.has(kind)),
  );
}

/**
 * Matches the `>` marks at the start of a line. It matches no line breaks, so that a run of line breaks is
 * scanned once.
 */
const QUOTE_MARKS = /^[^\S\n\r\u2028\u2029]*(?:>[^\S\n\r\u2028\u2029]*)+/gm;

/** Returns the text on one line, without the `>` marks at line starts. */
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

/**
 * Returns true if the needle is not part of a longer number or word. For example, 12 does not count as found
 * in 1.12 or 120.
 */
function isWhole(text: string, at: number, needle: string): boolean {
  const end = at + needle.length;
  if (WORD.test(needle[0] ?? "")) {
    const before = text[at - 1] ?? " ";
    if (WORD.test(before)) return false;
    if (before === "." && /\d/.test(text[at - 2] ?? "") && /\d/.test(needle[0] ?? "")) return false;
  }
  return !(WORD.test(needle.at(-1) ?? "") && WORD.test(text[end] ?? " "));
}

// A text can name a path in full, by the end of the path from some folder on, or in a group of files in one
// folder.

/** Returns the text with plain slashes, however often backslashes were escaped. */
export const slashed = (text: string): string => (text.includes("\\") ? text.replace(/\\+/g, "/") : text);

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const ASCII_IN_PATHS: ReadonlySet<string> = new Set(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.@~+$/-",
);
const FIRST_NOT_ASCII = "\u0080";

/**
 * Returns true for a character that can be part of a path. The start and the end of a text count as outside a
 * path.
 */
const isInPath = (character: string | undefined): boolean =>
  character !== undefined &&
  (character < FIRST_NOT_ASCII ? ASCII_IN_PATHS.has(character) : LETTER_OR_DIGIT.test(character));

/**
 * Returns true if a path continues after `end`. A period ends a sentence unless more of the path follows it.
 */
const continuesPath = (text: string, end: number): boolean => {
  const next = text[end];
  if (next === ".") return isInPath(text[end + 1]) && text[end + 1] !== ".";
  return next !== "/" && isInPath(next);
};

/**
 * Limits for long lines of data, which contain slashes too. No real folder path is this long, and no text
 * names a file this often.
 */
const LONGEST_LEAD_CHARS = 512;
const MAX_PLACES = 5_000;

/** Paths in a text. The text is scanned once for all files with the same name. */
class TextPaths {
  readonly #text: string;
  /**
   * The key is a file name. The value is the set of texts that directly precede an occurrence of the name.
   */
  readonly #leads = new Map<string, ReadonlySet<string>>();

  constructor(text: string) {
    this.#text = slashed(text);
  }

  /**
   * Returns true if the text names the file by its whole path, or by the end of the path from some folder on.
   * If the path has a folder, a bare name is enough only if the text also names the folder.
   */
  names(path: string): boolean {
    const cut = path.lastIndexOf("/") + 1;
    const folder = path.slice(0, cut);
    let hasBareName = false;
    for (const lead of this.#leadsOf(path.slice(cut))) {
      if (lead === folder || endsWithFolder(lead, folder)) return true;
      hasBareName ||= lead === "";
    }
    if (hasBareName && cut > 1 && this.#namesFolder(path.slice(0, cut - 1))) return true;
    return !isPlain(path) && this.#mentions(path);
  }

  /**
   * Searches for the whole path. A search by file name would end at spaces and special characters in the
   * path.
   */
  #mentions(path: string): boolean {
    const text = this.#text;
    for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
      if (!continuesPath(text, at + path.length)) return true;
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
      if (continuesPath(text, at + name.length)) continue;
      if (++places > MAX_PLACES) break;
      leads.add(leadBefore(text, at, isInPath).replace(FROM_HERE, ""));
    }
    this.#leads.set(name, leads);
    return leads;
  }

  /** Returns true if the text names the folder itself, not as part of another path. */
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

/** Returns true if a path has only usual characters. Other paths are written in full and outside groups. */
export const isPlain = (path: string): boolean =>
  !path.endsWith("/") &&
  path
    .replace(/^[A-Za-z]:/, "")
    .split("")
    .every(isInPath);
const FROM_HERE = /^(?:(?:\.{1,2}|~)\/)+/;
const FROM_ROOT = /^(?:\/|[A-Za-z]:)/;

/**
 * Returns true if the folder ends with the folder names in `lead`, or if `lead` ends with the whole folder.
 */
function endsWithFolder(lead: string, folder: string): boolean {
  if (lead === "" || folder === "" || !lead.endsWith("/")) return false;
  if (lead.length > folder.length) return lead.endsWith(FROM_ROOT.test(folder) ? folder : `/${folder}`);
  const before = folder[folder.length - lead.length - 1];
  // If `lead` starts with a slash, only the colon of a drive may precede `lead` in the folder. If `lead`
  // starts with a folder name, the character before `lead` must be a slash or a character that paths do not
  // contain.
  return (
    folder.endsWith(lead) && (lead.startsWith("/") ? before === ":" : before === "/" || !isInPath(before))
  );
}

const FOLDER_LINE = /^Files under (\S+\/): (.*)$/gm;
/** `folder/{one.ts, two.ts}` names two files. */
const GROUP = /\/\{([^{}\n]{1,8000})\}/g;
const isInFolder = (character: string | undefined): boolean => !/[\s{}"'`(),;]/.test(character ?? " ");

/** Returns the text with grouped paths written out in full. */
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
