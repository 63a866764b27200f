import { type Context, createContext, Script } from "node:vm";
import { LonghaulError } from "@longhaul/core/errors";

/** What all searches of one pattern may take together. */
const PATTERN_BUDGET_MS = 2_000;
/** What it may take on one text: enough for megabytes of any pattern that does not go astray. */
const TEXT_BUDGET_MS = 250;

/** Groups within groups by the thousand end the whole process when V8 compiles them: nobody can catch that. */
const LONGEST_PATTERN_CHARS = 5_000;

export type Match = readonly [number, number];

export type Found = Match | undefined | "too-slow";

interface Search {
  texts: readonly string[];
  at: number;
  found: (string | undefined)[];
}

/** What is searched is a variable of the script: globals of a context are looked up outside it, which takes far longer. */
const PREPARE = `const search = new RegExp(pattern, flags);
const job = { texts: [], at: 0, found: [] };
job`;

const SEARCH = `for (; job.at < job.texts.length; job.at++) {
  const match = search.exec(job.texts[job.at]);
  job.found[job.at] = match === null ? undefined : match.index + "," + match[0].length;
}`;

/** The text is the only one of the job: what is found are all its matches. */
const SEARCH_ALL = `{
  const all = new RegExp(pattern, flags + "g");
  for (const match of job.texts[0].matchAll(all)) {
    if (job.at === limit) break;
    job.found[job.at++] = match.index + "," + match[0].length;
  }
}`;

/**
 * A regular expression that cannot hang the program. V8's engine tries every way there is, which for some patterns
 * are more than there are atoms. It can be interrupted, though, as any script can: texts are searched by a script
 * with a time limit. A thread of its own would do the same at the price of a file of its own and of a start that takes
 * longer than most searches; an engine that takes linear time would know fewer patterns than people write.
 */
export class GuardedPattern {
  readonly #script = new Script(SEARCH);
  readonly #context: Context;
  readonly #search: Search;
  #leftMs: number;

  /** @throws LonghaulError where it is no regular expression, or an endless one. */
  constructor(pattern: string, flags: string, budgetMs: number = PATTERN_BUDGET_MS) {
    if (pattern.length > LONGEST_PATTERN_CHARS) {
      throw new LonghaulError(
        "pattern-invalid",
        `The pattern is longer than ${LONGEST_PATTERN_CHARS} characters.`,
        { remedy: "Look for a part of it, or for the exact text instead." },
      );
    }
    try {
      new RegExp(pattern, flags);
    } catch (error) {
      throw new LonghaulError("pattern-invalid", `/${pattern}/ is no regular expression.`, {
        remedy: "Write it as in JavaScript, or look for the exact text instead.",
        cause: error,
      });
    }
    this.#leftMs = budgetMs;
    this.#context = createContext({ pattern, flags, limit: 0 });
    this.#search = new Script(PREPARE).runInContext(this.#context) as Search;
  }

  /**
   * For each text the first match; "too-slow" where it took too long to find out, and for all that come after
   * so many of these.
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
      // The whole of the time went into one text: it is passed over. Else it has another chance.
      if (this.#search.at === from) {
        found.push("too-slow");
        slow++;
      }
    }
    return found;
  }

  /** The first matches of one text, as many as asked for; "too-slow" where it took too long to find them all. */
  allIn(text: string, limit: number): readonly Match[] | "too-slow" {
    this.#search.texts = [text];
    this.#context.limit = limit;
    const isDone = this.#run(new Script(SEARCH_ALL), 0);
    return isDone ? this.#search.found.map(matchOf).filter((match) => match !== undefined) : "too-slow";
  }

  /** Whether it came to its end. */
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
      // It was interrupted: how far it came is known.
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
 * Texts that stand in every match of a pattern, as far as that is easily seen: what is outside all groups and classes
 * and is not repeated. None where there is a choice at the top.
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

/** Where what begins here ends: a character, an escape, a class, a group. */
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

/** Undefined for what stands for more than itself. */
function literalOf(unit: string): string | undefined {
  if (unit.length === 1) return isPlain(unit) ? unit : undefined;
  // Letters after a backslash mean something, other signs mean themselves.
  return /^\\[^A-Za-z0-9]$/.test(unit) ? unit.slice(1) : undefined;
}

function quantifierEnd(pattern: string, start: number): number {
  const found = /^(?:[*+?]|\{[^}]*\})\??/.exec(pattern.slice(start, start + 64));
  return start + Math.max(1, found?.[0].length ?? 1);
}
