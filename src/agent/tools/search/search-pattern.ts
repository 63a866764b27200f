import { GuardedPattern, literalsInPattern, type PatternMatch } from "../../../node.ts";

/** What the processor may spend on one search. A tree that takes longer is searched better folder by folder. */
const SEARCH_BUDGET_MS = 30_000;
/** Files in which a pattern took too long, before it is given up: each holds everything up for a moment. */
const MOST_SLOW_FILES = 4;

export interface PatternOptions {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** A match may go over several lines, and `.` is also a line end. */
  readonly isMultiline: boolean;
}

/** A pattern for one search, which ends whatever the pattern is. */
export class SearchPattern {
  readonly #guarded: GuardedPattern;
  /** Bytes that stand in every match; undefined where that cannot be told. Most files are done with by looking for them. */
  readonly bytes: Buffer | undefined;
  #slowFiles = 0;

  /** @throws LonghaulError where it is no regular expression. */
  constructor({ pattern, ignoreCase, isMultiline }: PatternOptions) {
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
