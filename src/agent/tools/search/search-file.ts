import type { PatternMatch } from "../../../node.ts";
import { Excerpt, type ExcerptLimits } from "./excerpt.ts";
import { type OpenedText, type OpenOptions, openText, type SkipReason } from "./file-lines.ts";
import type { SearchPattern } from "./search-pattern.ts";

export interface FileSearch {
  readonly pattern: SearchPattern;
  readonly isMultiline: boolean;
  readonly limits: ExcerptLimits;
  /** Matching lines after which nothing more of a file is wanted. */
  readonly mostMatches: number;
  readonly signal: AbortSignal;
}

export interface SearchedFile {
  readonly excerpt: Excerpt;
  /** The pattern took too long somewhere: what comes after it was not searched. */
  readonly isSlow: boolean;
}

/** What is found in one file. Rejects only when it is aborted. */
export async function searchFile(
  path: string,
  search: FileSearch,
  isNamed: boolean,
): Promise<SearchedFile | SkipReason> {
  const options: OpenOptions = { isNamed, isWhole: search.isMultiline, bytes: search.pattern.bytes };
  const text = await openText(path, options);
  if (text === "no-match") return { excerpt: new Excerpt(search.limits), isSlow: false };
  if (typeof text === "string") return text;
  try {
    return search.isMultiline ? await searchWhole(text, search) : await searchLines(text, search);
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
