import { isAbsolute, join, sep } from "node:path";
import { expandBraces, fitsName, type NamePattern, namePattern } from "@longhaul/core/memory-files";
import { isDynamicPattern } from "tinyglobby";

/**
 * Our own glob matcher. Glob packages use regular expressions, which take minutes for some patterns and
 * names. The time of this matcher is bounded by the lengths of the pattern and the path.
 */

/**
 * Maximum number of alternatives. Nobody writes more alternatives, but their numbers multiply in consecutive
 * braces.
 */
const MAX_ALTERNATIVES = 200;

/** Pattern that matches paths in bounded time. */
export interface GlobPattern {
  /**
   * Checks whether a path matches. `path` contains the names of the folders and of the file, starting below
   * the searched folder.
   */
  matches(path: readonly string[]): boolean;
  /** Checks if something in this folder can match. */
  reaches(folder: readonly string[]): boolean;
}

/**
 * Compiles a pattern. Within a name, it can contain `*`, `?`, `[a-z]` and `[!a-z]`. `**` matches any number
 * of folders, and `{a,b}` lists alternatives. A backslash escapes the next character.
 */
export function globPattern(pattern: string): GlobPattern {
  const alternatives = (alternativesOf(pattern) ?? []).map((each) =>
    each.split("/").filter(isStep).map(stepOf),
  );
  return {
    matches: (path) => alternatives.some((steps) => placesAfter(steps, path).has(steps.length)),
    reaches: (folder) =>
      alternatives.some((steps) => [...placesAfter(steps, folder)].some((at) => at < steps.length)),
  };
}

const isStep = (part: string): boolean => part !== "" && part !== ".";

/** Expands the braces of a pattern. Returns undefined if there are too many alternatives. */
const alternativesOf = (pattern: string): readonly string[] | undefined =>
  expandBraces(pattern, MAX_ALTERNATIVES);

type Step = "any-folders" | NamePattern;

const stepOf = (part: string): Step => (part === "**" ? "any-folders" : namePattern(part));

/** Returns the positions in the pattern at which matching can continue after these names. */
function placesAfter(steps: readonly Step[], names: readonly string[]): ReadonlySet<number> {
  let places = withSkipped(steps, [0]);
  for (const name of names) {
    const characters = [...name];
    const next: number[] = [];
    for (const at of places) {
      const step = steps[at];
      if (step === "any-folders") next.push(at);
      else if (step !== undefined && fitsName(step, characters)) next.push(at + 1);
    }
    places = withSkipped(steps, next);
  }
  return places;
}

/** Adds the positions after each `**`, because `**` also matches zero folders. */
function withSkipped(steps: readonly Step[], places: readonly number[]): ReadonlySet<number> {
  const all = new Set<number>();
  for (const place of places) {
    all.add(place);
    for (let at = place; steps[at] === "any-folders"; at++) all.add(at + 1);
  }
  return all;
}

/**
 * Moves the fixed beginning of a pattern to the folder: `/data/logs/*.txt` becomes `*.txt` in `/data/logs`.
 */
export function targetOf(
  path: string | undefined,
  pattern: string,
): { readonly path: string; readonly pattern: string } {
  const parts = pattern.replaceAll("\\", "/").split("/");
  const firstDynamic = parts.findIndex((part) => isDynamicPattern(part));
  const fixed = parts.slice(0, firstDynamic < 0 ? parts.length - 1 : firstDynamic);
  const rest = parts.slice(fixed.length).join("/");
  const base = fixed.length === 1 && fixed[0] === "" ? sep : fixed.join("/");
  if (base === "") return { path: path ?? ".", pattern: rest };
  return { path: isAbsolute(base) || base.startsWith("~") ? base : join(path ?? ".", base), pattern: rest };
}

/** Maximum length of a pattern. No person writes a longer one. */
const LONGEST_PATTERN_CHARS = 1_000;
const MAX_STARS = 20;

/** Explains why a pattern cannot be used. Returns undefined if the pattern can be used. */
export function problemWithPattern(pattern: string): string | undefined {
  if (pattern.length > LONGEST_PATTERN_CHARS)
    return `The pattern is longer than ${LONGEST_PATTERN_CHARS} characters.`;
  if ((pattern.match(/\*+/g) ?? []).length > MAX_STARS)
    return `The pattern has more than ${MAX_STARS} stars.`;
  if (alternativesOf(pattern) === undefined) return "The pattern has braces with too many alternatives.";
  const isUpwards = pattern.split(/[\\/]/).includes("..");
  return isUpwards ? "A pattern cannot leave its folder with `..`. Pass the folder in `path`." : undefined;
}
