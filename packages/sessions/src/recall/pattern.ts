import { type Context, createContext, Script } from "node:vm";
import { LonghaulError } from "@longhaul/core/errors";

/** Time limit for all searches of one pattern together. */
const PATTERN_BUDGET_MS = 2_000;
/**
 * Time limit for one text. It is enough for megabytes with any pattern that does not backtrack excessively.
 */
const TEXT_BUDGET_MS = 250;

/**
 * Maximum length of a pattern. If a pattern has thousands of nested groups, V8 crashes the process when it
 * compiles the pattern. No code can catch that.
 */
const LONGEST_PATTERN_CHARS = 5_000;

export type Match = readonly [number, number];

export type Found = Match | undefined | "too-slow";

interface Search {
  texts: readonly string[];
  at: number;
  found: (string | undefined)[];
}

/**
 * Script that stores the pattern in a variable of the script. Looking up a global of the context would take
 * much longer.
 */
const PREPARE = `const search = new RegExp(pattern, flags);
const job = { texts: [], at: 0, found: [] };
job`;

const SEARCH = `for (; job.at < job.texts.length; job.at++) {
  const match = search.exec(job.texts[job.at]);
  job.found[job.at] = match === null ? undefined : match.index + "," + match[0].length;
}`;

/** Script that returns all matches of the single text of a job. */
const SEARCH_ALL = `{
  const all = new RegExp(pattern, flags + "g");
  for (const match of job.texts[0].matchAll(all)) {
    if (job.at === limit) break;
    job.found[job.at++] = match.index + "," + match[0].length;
  }
}`;

/**
 * Regular expression that cannot hang the program. V8 backtracks, which takes practically unlimited time for
 * some patterns. For this reason, a script with a time limit searches the texts, because V8 can interrupt any
 * script. A worker thread would need a separate file, and would take longer to start than most searches. A
 * linear-time engine would not support all patterns that people write.
 */
export class GuardedPattern {
  readonly #script = new Script(SEARCH);
  readonly #context: Context;
  readonly #search: Search;
  #leftMs: number;

  /** @throws LonghaulError if the pattern is not a valid regular expression, or is too long. */
  constructor(pattern: string, flags: string, budgetMs: number = PATTERN_BUDGET_MS) {
    if (pattern.length > LONGEST_PATTERN_CHARS) {
      throw new LonghaulError(
        "pattern-invalid",
        `Invalid search pattern: it is longer than ${LONGEST_PATTERN_CHARS} characters.`,
        { remedy: "Search for a part of it, or for the exact text." },
      );
    }
    try {
      new RegExp(pattern, flags);
    } catch (error) {
      throw new LonghaulError(
        "pattern-invalid",
        `Invalid search pattern: /${pattern}/ is not a regular expression.`,
        { remedy: "Use the syntax of JavaScript, or search for the exact text.", cause: error },
      );
    }
    this.#leftMs = budgetMs;
    this.#context = createContext({ pattern, flags, limit: 0 });
    this.#search = new Script(PREPARE).runInContext(this.#context) as Search;
  }

  /**
   * Returns the first match in each text. If the search of a text took too long, its result is "too-slow".
   * After `slowAtMost` slow texts, the result for every further text is "too-slow".
   */
  findIn(texts: readonly string[], slowAtMost: number = Number.POSITIVE_INFINITY): readonly Found[] {
    const found: Found[] = [];
    this.#search.texts = texts;
    let slow = 0;
    while (found.length < texts.length) {
      const from = found.length;
      if (slow < slowAtMost) this.#run(this.#script, from);
      else this.#search.at = from;
      for (let at = from; at < this.#search.at; at++) found.push(matchOf(this.#search.found[at]));
      // If the first text used up the whole time, it is skipped. If a later text was interrupted, it gets
      // another attempt.
      if (this.#search.at === from) {
        found.push("too-slow");
        slow++;
      }
    }
    return found;
  }

  /**
   * Returns the first matches in one text, up to the limit. If the search took too long, returns "too-slow".
   */
  allIn(text: string, limit: number): readonly Match[] | "too-slow" {
    this.#search.texts = [text];
    this.#context.limit = limit;
    const isDone = this.#run(new Script(SEARCH_ALL), 0);
    return isDone ? this.#search.found.map(matchOf).filter((match) => match !== undefined) : "too-slow";
  }

  /** Runs a script. Returns true if it finished. */
  #run(script: Script, from: number): boolean {
    this.#search.at = from;
    this.#search.found = [];
    if (this.#leftMs <= 0) return false;
    const startedAt = performance.now();
    try {
      const timeout = Math.max(1, Math.ceil(Math.min(TEXT_BUDGET_MS, this.#leftMs)));
      script.runInContext(this.#context, { timeout });
      return true;
    } catch {
      // The script was interrupted, and its progress is known.
      return false;
    } finally {
      this.#leftMs -= performance.now() - startedAt;
    }
  }
}

function matchOf(found: string | undefined): Match | undefined {
  if (found === undefined) return undefined;
  const [start = 0, length = 0] = found.split(",").map(Number);
  return [start, start + length];
}

const isPlain = (character: string): boolean => !/[\\^$.*+?()[\]{}|/]/.test(character);

/**
 * Returns texts that every match of a pattern contains. Finds only texts that are outside groups and classes
 * and are not repeated. If the pattern has alternatives at the top level, returns none.
 */
export function literalsIn(pattern: string): readonly string[] {
  const literals: string[] = [];
  let current = "";
  const end = (): void => {
    if (current !== "") literals.push(current);
    current = "";
  };
  for (let at = 0; at < pattern.length; ) {
    const character = pattern[at] ?? "";
    if (character === "|") return [];
    const after = unitEnd(pattern, at);
    const unit = literalOf(pattern.slice(at, after));
    const isRepeated = /[*+?{]/.test(pattern[after] ?? "");
    if (unit === undefined || isRepeated) end();
    else current += unit;
    at = isRepeated ? quantifierEnd(pattern, after) : after;
  }
  end();
  return literals;
}

/** Returns the end of the unit that starts here: a character, an escape, a class or a group. */
function unitEnd(pattern: string, start: number): number {
  const character = pattern[start];
  if (character === "\\") return escapeEnd(pattern, start);
  if (character === "[") return classEnd(pattern, start);
  if (character !== "(") return start + 1;
  let depth = 0;
  for (let at = start; at < pattern.length; ) {
    if (pattern[at] === "(") depth++;
    if (pattern[at] === ")" && --depth === 0) return at + 1;
    if (pattern[at] === "\\") at = escapeEnd(pattern, at);
    else at = pattern[at] === "[" ? classEnd(pattern, at) : at + 1;
  }
  return pattern.length;
}

function escapeEnd(pattern: string, start: number): number {
  const long = /^\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|u[0-9a-fA-F]{4}|[pP]\{[^}]*\}|k<[^>]*>|c[A-Za-z]|\d+)/.exec(
    pattern.slice(start, start + 64),
  );
  return start + (long?.[0].length ?? 2);
}

function classEnd(pattern: string, start: number): number {
  for (let at = start + 1; at < pattern.length; at++) {
    if (pattern[at] === "\\") at++;
    else if (pattern[at] === "]") return at + 1;
  }
  return pattern.length;
}

/** Returns the literal text of a unit, or undefined if the unit matches more than itself. */
function literalOf(unit: string): string | undefined {
  if (unit.length === 1) return isPlain(unit) ? unit : undefined;
  // A letter after a backslash has a special meaning. Any other character means itself.
  return /^\\[^A-Za-z0-9]$/.test(unit) ? unit.slice(1) : undefined;
}

function quantifierEnd(pattern: string, start: number): number {
  const found = /^(?:[*+?]|\{[^}]*\})\??/.exec(pattern.slice(start, start + 64));
  return start + Math.max(1, found?.[0].length ?? 1);
}
