import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { headOf, tailOf } from "@longhaul/core/messages";
import { GuardedPattern, literalsInPattern, type PatternMatch } from "@longhaul/sessions";

export interface FileSearch {
  readonly pattern: SearchPattern;
  /** True if the call names this file. */
  readonly isNamed: boolean;
  readonly limits: ExcerptLimits;
  /** Maximum number of matching lines, after which the search of a file stops. */
  readonly mostMatches: number;
  readonly signal: AbortSignal;
}

interface SearchedFile {
  readonly excerpt: Excerpt;
  /** True if the pattern took too long. The rest of the file was not searched. */
  readonly isSlow: boolean;
}

/** Searches one file. Rejects only when aborted. */
export async function searchFile(path: string, search: FileSearch): Promise<SearchedFile | SkipReason> {
  const { isMultiline, bytes } = search.pattern;
  const text = await openText(path, { isNamed: search.isNamed, isWhole: isMultiline, bytes });
  if (text === "no-match") return { excerpt: new Excerpt(search.limits), isSlow: false };
  if (typeof text === "string") return text;
  try {
    return isMultiline ? await searchWhole(text, search) : await searchLines(text, search);
  } catch {
    search.signal.throwIfAborted();
    return "unreadable";
  } finally {
    await text.close();
  }
}

async function searchLines(text: OpenedText, search: FileSearch): Promise<SearchedFile> {
  const excerpt = new Excerpt(search.limits);
  for await (const lines of text.lines()) {
    search.signal.throwIfAborted();
    const { matches, isSlow } = search.pattern.inLines(lines);
    for (const [at, match] of matches.entries()) {
      excerpt.add(lines[at] ?? "", match);
      if (excerpt.matches >= search.mostMatches && !excerpt.isOpen) return { excerpt, isSlow: false };
    }
    if (isSlow) return { excerpt, isSlow };
  }
  return { excerpt, isSlow: false };
}

async function searchWhole(text: OpenedText, search: FileSearch): Promise<SearchedFile> {
  const lines: string[] = [];
  for await (const some of text.lines()) for (const line of some) lines.push(line);
  search.signal.throwIfAborted();
  const excerpt = new Excerpt(search.limits);
  const found = search.pattern.inText(lines.join("\n"), search.mostMatches);
  if (found === "too-slow") return { excerpt, isSlow: true };
  const matchOf = matchesByLine(lines, found);
  for (const [at, line] of lines.entries()) excerpt.add(line, matchOf(at));
  return { excerpt, isSlow: false };
}

/** Finds the matches of each line. All lines of a multi-line match count as matching lines. */
function matchesByLine(
  lines: readonly string[],
  found: readonly PatternMatch[],
): (line: number) => PatternMatch | undefined {
  const byLine = new Map<number, PatternMatch>();
  let [at, start] = [0, 0];
  for (const [from, to] of found) {
    // Matches are in order, so the lines are scanned once.
    while (at < lines.length - 1 && start + lengthOf(lines, at) < from) start += lengthOf(lines, at++) + 1;
    for (
      let line = at, lineStart = start;
      line < lines.length && lineStart <= Math.max(from, to - 1);
      line++
    ) {
      if (!byLine.has(line)) byLine.set(line, [Math.max(0, from - lineStart), Math.max(0, to - lineStart)]);
      lineStart += lengthOf(lines, line) + 1;
    }
  }
  return (line) => byLine.get(line);
}

const lengthOf = (lines: readonly string[], at: number): number => lines[at]?.length ?? 0;

interface ExcerptLimits {
  readonly before: number;
  readonly after: number;
  /** Maximum rows to keep. Later matches are still counted. */
  readonly mostRows: number;
}

export interface Row {
  /** Line number, counted from 1. */
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
}

/** Maximum length of a row, enough to recognize the line. Generated lines can have millions of characters. */
const LONGEST_ROW_CHARS = 400;
/** Characters shown before the match in a cut line. */
const LEAD_CHARS = 120;

/** Collector of matching lines with context from a stream of lines. */
export class Excerpt {
  readonly #limits: ExcerptLimits;
  readonly #recent: Row[] = [];
  #afterLeft = 0;
  #number = 0;
  readonly rows: Row[] = [];
  matches = 0;

  constructor(limits: ExcerptLimits) {
    this.#limits = limits;
  }

  /** True while context lines after the last match are still missing. */
  get isOpen(): boolean {
    return this.#afterLeft > 0 && this.rows.length < this.#limits.mostRows;
  }

  add(line: string, match: PatternMatch | undefined): void {
    this.#number++;
    if (match !== undefined) this.matches++;
    const { before, after, mostRows } = this.#limits;
    if (this.rows.length >= mostRows) return;
    if (match !== undefined) {
      this.rows.push(...this.#recent.splice(0), this.#row(line, match));
      this.#afterLeft = after;
    } else if (this.#afterLeft > 0) {
      this.#afterLeft--;
      this.rows.push(this.#row(line, undefined));
    } else if (before > 0) {
      this.#recent.push(this.#row(line, undefined));
      if (this.#recent.length > before) this.#recent.shift();
    }
  }

  #row(line: string, match: PatternMatch | undefined): Row {
    return { number: this.#number, text: cut(line, match?.[0] ?? 0), isMatch: match !== undefined };
  }
}

/** Cuts a long line around its match. */
function cut(line: string, matchStart: number): string {
  if (line.length <= LONGEST_ROW_CHARS) return line;
  const start = Math.max(0, Math.min(matchStart - LEAD_CHARS, line.length - LONGEST_ROW_CHARS));
  // Both helpers avoid half characters at the cuts.
  const part = headOf(tailOf(line, line.length - start), LONGEST_ROW_CHARS);
  const isEnd = start + LONGEST_ROW_CHARS >= line.length;
  return `${start > 0 ? "…" : ""}${part}${isEnd ? "" : "…"}`;
}

/** Maximum CPU time for one search. A larger tree is better searched folder by folder. */
const SEARCH_BUDGET_MS = 30_000;
/** Maximum number of slow files, because each one blocks the process for a moment. */
const MAX_SLOW_FILES = 4;

interface PatternOptions {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** True if a match can span several lines, and `.` also matches a line end. */
  readonly isMultiline: boolean;
}

/** Compiled search pattern. Its search always ends, whatever the pattern is. */
export class SearchPattern {
  readonly #guarded: GuardedPattern;
  readonly isMultiline: boolean;
  /**
   * Bytes that every match contains. Undefined if unknown. A file without these bytes needs no search. This
   * check rules out most files quickly.
   */
  readonly bytes: Buffer | undefined;
  #slowFiles = 0;

  /** @throws LonghaulError if the pattern is not a regular expression. */
  constructor({ pattern, ignoreCase, isMultiline }: PatternOptions) {
    this.isMultiline = isMultiline;
    // Accepts flags at the start of a pattern, because other regular expression engines do.
    const [, inFront = "", rest = pattern] = /^\(\?([ims]+)\)(.*)$/s.exec(pattern) ?? [];
    const flags = new Set(inFront);
    if (ignoreCase) flags.add("i");
    if (isMultiline) flags.add("m").add("s");
    // Sets the `u` flag only if the pattern needs it, because with this flag an unnecessary escape such as
    // `\-` is an error.
    if (/\\[pP]\{/.test(rest)) flags.add("u");
    this.#guarded = new GuardedPattern(rest, [...flags].join(""), SEARCH_BUDGET_MS);
    const [longest] = flags.has("i") ? [] : literalsInPattern(rest).toSorted((a, b) => b.length - a.length);
    this.bytes = longest === undefined ? undefined : Buffer.from(longest);
  }

  get isGivenUp(): boolean {
    return this.#slowFiles >= MAX_SLOW_FILES;
  }

  /** Finds the first match in each line, up to the first line that takes too long. */
  inLines(lines: readonly string[]): {
    readonly matches: readonly (PatternMatch | undefined)[];
    readonly isSlow: boolean;
  } {
    if (this.isGivenUp) return { matches: [], isSlow: true };
    const found = this.#guarded.findIn(lines, 1);
    const slowAt = found.indexOf("too-slow");
    if (slowAt >= 0) this.#slowFiles++;
    const matches = (slowAt < 0 ? found : found.slice(0, slowAt)).map((one) =>
      one === "too-slow" ? undefined : one,
    );
    return { matches, isSlow: slowAt >= 0 };
  }

  /** Finds the first matches in a whole text, up to the limit. */
  inText(text: string, limit: number): readonly PatternMatch[] | "too-slow" {
    const found = this.isGivenUp ? "too-slow" : this.#guarded.allIn(text, limit);
    if (found === "too-slow") this.#slowFiles++;
    return found;
  }
}

/** Size of one piece of a streamed file: large enough for speed, small enough for memory. */
const PIECE_BYTES = 1024 * 1024;
/** Maximum size of a file that the call does not name. Larger files are data or generated. */
const LARGEST_IN_TREE_BYTES = 8 * 1024 * 1024;
/**
 * Maximum size of a file that the call names. This limit is larger than the longest file with command output.
 */
const LARGEST_NAMED_BYTES = 128 * 1024 * 1024;
/**
 * Maximum length of a line. A longer line is split. Otherwise a file without line ends would be in memory as
 * a whole.
 */
const LONGEST_LINE_CHARS = 8 * 1024 * 1024;

export type SkipReason = "binary" | "too-large" | "unreadable";

interface OpenedText {
  /** Yields lines in file order, in batches. */
  lines(): AsyncGenerator<readonly string[]>;
  close(): Promise<void>;
}

interface OpenOptions {
  readonly isNamed: boolean;
  /** True if the search needs the file as one text. */
  readonly isWhole: boolean;
  /** Bytes that every match contains. A file without them needs no search. */
  readonly bytes: Buffer | undefined;
}

/** Opens a text file for searching. Opens only regular files, because a pipe or a device could block. */
async function openText(path: string, options: OpenOptions): Promise<OpenedText | SkipReason | "no-match"> {
  const largest = options.isNamed && !options.isWhole ? LARGEST_NAMED_BYTES : LARGEST_IN_TREE_BYTES;
  try {
    if (!(await stat(path)).isFile()) return "unreadable";
    // The path may have changed since the check, even to a link that leads elsewhere.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const opened = await textOf(handle, largest, options.bytes).catch(() => "unreadable" as const);
    if (typeof opened === "string") await handle.close();
    return opened;
  } catch {
    return "unreadable";
  }
}

async function textOf(
  handle: FileHandle,
  largest: number,
  bytes: Buffer | undefined,
): Promise<OpenedText | SkipReason | "no-match"> {
  const found = await handle.stat();
  if (!found.isFile()) return "unreadable";
  if (found.size > largest) return "too-large";
  // One extra byte detects the end in the same read.
  const first = await read(handle, 0, Math.min(PIECE_BYTES, found.size + 1));
  if (first.includes(0)) return "binary";
  const isAll = first.length === found.size;
  if (isAll && bytes !== undefined && !first.includes(bytes)) return "no-match";
  return { lines: () => linesOf(handle, first, largest), close: () => handle.close() };
}

async function read(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await handle.read(buffer, 0, length, from);
  return buffer.subarray(0, bytesRead);
}

async function* linesOf(
  handle: FileHandle,
  first: Buffer,
  largest: number,
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  let offset = 0;
  // Stop at the size limit, because the file may grow while it is read.
  for (
    let piece = first;
    piece.length > 0 && offset <= largest;
    piece = await read(handle, offset, PIECE_BYTES)
  ) {
    offset += piece.length;
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LONGEST_LINE_CHARS) {
      lines.push(rest);
      rest = "";
    }
    if (lines.length > 0) yield lines.map(withoutReturn);
  }
  rest += decoder.decode();
  if (rest !== "") yield [withoutReturn(rest)];
}

const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);
