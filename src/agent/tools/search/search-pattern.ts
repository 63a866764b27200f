import { GuardedPattern, literalsIn, type Match } from "../../../node.ts";

/** What the processor may spend on one search. A tree that takes longer is searched better folder by folder. */
const SEARCH_BUDGET_MS = 30_000;
/** Files of which a pattern could not be searched, before the search is given up. Each holds everything up for a moment. */
export const MOST_SLOW_FILES = 4;

export interface PatternOptions {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** A match may go over several lines, and `.` is also a line end. */
  readonly isMultiline: boolean;
}

export interface SearchPattern {
  readonly guarded: GuardedPattern;
  /** Bytes that stand in every match; undefined where that cannot be told. Most files are done with by looking for them. */
  readonly bytes: Buffer | undefined;
}

/** @throws LonghaulError where it is no regular expression. */
export function searchPattern({ pattern, ignoreCase, isMultiline }: PatternOptions): SearchPattern {
  // Flags in front of a pattern are how others write them.
  const [, inFront = "", rest = pattern] = /^\(\?([ims]+)\)(.*)$/s.exec(pattern) ?? [];
  const flags = new Set(inFront);
  if (ignoreCase) flags.add("i");
  if (isMultiline) flags.add("m").add("s");
  // Not always: with it a needless backslash, as in `\-`, is a mistake.
  if (/\\[pP]\{/.test(rest)) flags.add("u");
  const guarded = new GuardedPattern(rest, [...flags].join(""), SEARCH_BUDGET_MS);
  const [longest] = flags.has("i") ? [] : literalsIn(rest).toSorted((a, b) => b.length - a.length);
  return { guarded, bytes: longest === undefined ? undefined : Buffer.from(longest) };
}

/** The first match in each line, up to the first line that took too long. */
export function matchesIn(
  { guarded }: SearchPattern,
  lines: readonly string[],
): { readonly matches: readonly (Match | undefined)[]; readonly isSlow: boolean } {
  const found = guarded.findIn(lines, 1);
  const slowAt = found.indexOf("too-slow");
  const matches = (slowAt < 0 ? found : found.slice(0, slowAt)).map((one) =>
    one === "too-slow" ? undefined : one,
  );
  return { matches, isSlow: slowAt >= 0 };
}
