import { expandBraces, fitsName, matchesRuns, type NamePattern, namePattern } from "./name-pattern.ts";

/** Compiled patterns of one rule file. */
export interface PathPatterns {
  matches(relative: string): boolean;
}

interface PatternOptions {
  readonly ignoreCase?: boolean | undefined;
}

/**
 * Limits for the characters and alternatives of the patterns after braces are expanded. No person writes
 * more, and the cost of a match grows with both figures.
 */
const MAX_CHARACTERS = 10_000;
const MAX_ALTERNATIVES = 64;

type Step = "any-names" | NamePattern;

interface Alternative {
  readonly takesOut: boolean;
  readonly steps: readonly Step[];
}

/**
 * Compiles patterns with the rules of `.gitignore`, as agents interpret them. A pattern without `/` (except
 * at its end) matches at any depth. Other patterns start at the folder of the rules. A match on a folder
 * covers everything below it. The last matching pattern decides, and `!` at the start excludes. In addition,
 * `{a,b}` matches `a` or `b`. A list with only exclusions matches everything else. Returns undefined if there
 * are too many patterns.
 */
export function pathPatterns(
  patterns: readonly string[],
  { ignoreCase = false }: PatternOptions = {},
): PathPatterns | undefined {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const alternatives: Alternative[] = [];
  let characters = 0;
  for (const pattern of patterns) {
    const takesOut = pattern.startsWith("!");
    const expanded =
      pattern.length <= MAX_CHARACTERS &&
      expandBraces(fold(pattern.slice(takesOut ? 1 : 0)), MAX_ALTERNATIVES);
    if (!expanded) return undefined;
    for (const text of expanded) {
      characters += text.length + 1;
      if (characters > MAX_CHARACTERS) return undefined;
      const steps = stepsOf(text);
      if (steps.length > 0) alternatives.push({ takesOut, steps });
    }
  }
  const onlyTakesOut = alternatives.every(({ takesOut }) => takesOut);
  return {
    matches: (relative) => {
      const names = fold(relative)
        .split("/")
        .map((name) => [...name]);
      const last = alternatives.findLast(({ steps }) => matchesRuns(steps, names, isAnyNames, fitsStep));
      return last === undefined ? onlyTakesOut && alternatives.length > 0 : !last.takesOut;
    },
  };
}

const isAnyNames = (step: Step): boolean => step === "any-names";

const fitsStep = (step: Step, name: readonly string[]): boolean =>
  step !== "any-names" && fitsName(step, name);

/** Converts a pattern to one step per name. The last step matches everything below the folder. */
function stepsOf(pattern: string): readonly Step[] {
  const parts = partsOf(pattern);
  const names = parts.filter((name) => name !== "" && name !== ".");
  if (names.length === 0) return [];
  const steps: Step[] = names.map((name) => (name === "**" ? "any-names" : namePattern(name)));
  const isFolder = parts.at(-1) === "";
  const isFromRoot = parts.length > (isFolder ? 2 : 1);
  if (!isFromRoot) steps.unshift("any-names");
  // Everything below a folder does not include the folder itself.
  if (steps.at(-1) === "any-names") steps.push(["any-run"]);
  if (isFolder) steps.push(["any-run"]);
  return [...steps, "any-names"];
}

/** Splits a pattern into names. A `\` that does not escape anything is the Windows separator. */
const partsOf = (pattern: string): readonly string[] =>
  pattern.replaceAll(/\\(?:[*?[\]{}!,\\]|)/g, (found) => (found === "\\" ? "/" : found)).split("/");
