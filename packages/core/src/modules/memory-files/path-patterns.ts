import { expandBraces, fitsName, matchesRuns, type NamePattern, namePattern } from "./name-pattern.ts";

/** Patterns of one rule file, ready to be tried. */
export interface PathPatterns {
  matches(relative: string): boolean;
}

interface PatternOptions {
  readonly ignoreCase?: boolean | undefined;
}

/** More than this, in all that braces stand for, was not written by a person; what a match costs grows with both. */
const MOST_CHARACTERS = 10_000;
const MOST_ALTERNATIVES = 64;

type Step = "any-names" | NamePattern;

interface Alternative {
  readonly takesOut: boolean;
  readonly steps: readonly Step[];
}

/**
 * As in a `.gitignore`, which is how agents read them: without a `/` in it (but at its end) a pattern holds at any
 * depth, with one from the folder on; what holds for a folder holds for all below it; the last pattern that fits
 * decides, and one that begins with `!` takes out. Besides, `{a,b}` stands for either. A list that only takes out
 * takes out of everything. Undefined where there is too much to try.
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
      pattern.length <= MOST_CHARACTERS &&
      expandBraces(fold(pattern.slice(takesOut ? 1 : 0)), MOST_ALTERNATIVES);
    if (!expanded) return undefined;
    for (const text of expanded) {
      characters += text.length + 1;
      if (characters > MOST_CHARACTERS) return undefined;
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

/** Name by name. What follows says what may lie below. */
function stepsOf(pattern: string): readonly Step[] {
  const parts = partsOf(pattern);
  const names = parts.filter((name) => name !== "" && name !== ".");
  if (names.length === 0) return [];
  const steps: Step[] = names.map((name) => (name === "**" ? "any-names" : namePattern(name)));
  const isFolder = parts.at(-1) === "";
  const isFromRoot = parts.length > (isFolder ? 2 : 1);
  if (!isFromRoot) steps.unshift("any-names");
  // All below a folder is not the folder itself.
  if (steps.at(-1) === "any-names") steps.push(["any-run"]);
  if (isFolder) steps.push(["any-run"]);
  return [...steps, "any-names"];
}

/** A `\` that does not take the meaning from what follows is how others write `/`. */
const partsOf = (pattern: string): readonly string[] =>
  pattern.replaceAll(/\\(?:[*?[\]{}!,\\]|)/g, (found) => (found === "\\" ? "/" : found)).split("/");
