import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { headOf, tailOf } from "@longhaul/core/messages";
import { GuardedPattern, literalsInPattern, type PatternMatch } from "@longhaul/sessions";

export interface FileSearch {
  readonly pattern: SearchPattern;
  /** The model named this very file. */
  readonly isNamed: boolean;
  readonly limits: ExcerptLimits;
  /** Matching lines after which nothing more of a file is wanted. */
  readonly mostMatches: number;
  readonly signal: AbortSignal;
}

interface SearchedFile {
  readonly excerpt: Excerpt;
  /** The pattern took too long somewhere: what comes after it was not searched. */
  readonly isSlow: boolean;
}

/** What is found in one file. Rejects only when it is aborted. */
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

/** All lines that a match goes over are lines that match. */
function matchesByLine(
  lines: readonly string[],
  found: readonly PatternMatch[],
): (line: number) => PatternMatch | undefined {
  const byLine = new Map<number, PatternMatch>();
  let [at, start] = [0, 0];
  for (const [from, to] of found) {
    // Matches come in their order, so lines are gone through once.
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
  /** Kept at most; matches are counted on. */
  readonly mostRows: number;
}

export interface Row {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
}

/** Of a line: enough to see what it is. Lines that machines wrote have millions. */
const LONGEST_ROW_CHARS = 400;
/** Before the match, where a line is cut. */
const LEAD_CHARS = 120;

/** The lines that match, with some before and after, out of lines that come one by one. */
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

  /** True while lines after the last match are still to come. */
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

/** The part of a long line around its match. */
function cut(line: string, matchStart: number): string {
  if (line.length <= LONGEST_ROW_CHARS) return line;
  const start = Math.max(0, Math.min(matchStart - LEAD_CHARS, line.length - LONGEST_ROW_CHARS));
  // Cut from both sides, so that no character is halved.
  const part = headOf(tailOf(line, line.length - start), LONGEST_ROW_CHARS);
  const isEnd = start + LONGEST_ROW_CHARS >= line.length;
  return `${start > 0 ? "…" : ""}${part}${isEnd ? "" : "…"}`;
}

/** Processor time for one search. A tree that takes longer is searched better folder by folder. */
const SEARCH_BUDGET_MS = 30_000;
/** Files in which a pattern took too long, before it is given up: each holds everything up for a moment. */
const MOST_SLOW_FILES = 4;

interface PatternOptions {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** A match may go over several lines, and `.` is also a line end. */
  readonly isMultiline: boolean;
}

/** A pattern for one search, which ends whatever the pattern is. */
export class SearchPattern {
  readonly #guarded: GuardedPattern;
  readonly isMultiline: boolean;
  /** Bytes that stand in every match; undefined where that cannot be told. Most files are done with by looking for them. */
  readonly bytes: Buffer | undefined;
  #slowFiles = 0;

  /** @throws LonghaulError where it is no regular expression. */
  constructor({ pattern, ignoreCase, isMultiline }: PatternOptions) {
    this.isMultiline = isMultiline;
    // Flags in front of a pattern are how others write them.
    const [, inFront = "", rest = pattern] = /^\(\?([ims]+)\)(.*)$/s.exec(pattern) ?? [];
    const flags = new Set(inFront);
    if (ignoreCase) flags.add("i");
    if (isMultiline) flags.add("m").add("s");
    // Not always: with it a needless backslash, as in `\-`, is a mistake.
    if (/\\[pP]\{/.test(rest)) flags.add("u");
    this.#guarded = new GuardedPattern(rest, [...flags].join(""), SEARCH_BUDGET_MS);
    const [longest] = flags.has("i") ? [] : literalsInPattern(rest).toSorted((a, b) => b.length - a.length);
    this.bytes = longest === undefined ? undefined : Buffer.from(longest);
  }

  get isGivenUp(): boolean {
    return this.#slowFiles >= MOST_SLOW_FILES;
  }

  /** The first match in each line, up to the first line that took too long. */
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

  /** The first matches of a whole text, as many as asked for. */
  inText(text: string, limit: number): readonly PatternMatch[] | "too-slow" {
    const found = this.isGivenUp ? "too-slow" : this.#guarded.allIn(text, limit);
    if (found === "too-slow") this.#slowFiles++;
    return found;
  }
}

/** Of a text that is read in pieces: enough to be quick, little enough to hold. */
const PIECE_BYTES = 1024 * 1024;
/** In a tree: what is larger is data or made by a machine. */
const LARGEST_IN_TREE_BYTES = 8 * 1024 * 1024;
/** A file that was named: the longest output of a command, and more. */
const LARGEST_NAMED_BYTES = 128 * 1024 * 1024;
/** A line of this length is taken as it is, so that a file without line ends is not held as a whole. */
const LONGEST_LINE_CHARS = 8 * 1024 * 1024;

export type SkipReason = "binary" | "too-large" | "unreadable";

interface OpenedText {
  /** Lines in the order of the file, some at a time. */
  lines(): AsyncGenerator<readonly string[]>;
  close(): Promise<void>;
}

interface OpenOptions {
  readonly isNamed: boolean;
  /** It is needed as one text. */
  readonly isWhole: boolean;
  /** Nothing is wanted of a file without these. */
  readonly bytes: Buffer | undefined;
}

/** A text file for searching. Only regular files are opened: a pipe or a device would be waited for. */
async function openText(path: string, options: OpenOptions): Promise<OpenedText | SkipReason | "no-match"> {
  const largest = options.isNamed && !options.isWhole ? LARGEST_NAMED_BYTES : LARGEST_IN_TREE_BYTES;
  try {
    if (!(await stat(path)).isFile()) return "unreadable";
    // In between it may have become something else, also a link that leads elsewhere.
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
  // One byte more, to see the end in the same go.
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
  // Not more than it was allowed to be: it may grow as fast as it is read.
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
