import { isAbsolute, join, sep } from "node:path";
import { expandBraces, fitsName, type NamePattern, namePattern } from "@longhaul/core/memory-files";
import { isDynamicPattern } from "tinyglobby";

/**
 * Our own matcher of globs: the packages make regular expressions of them, and a model can write a pattern and a project
 * a name for which such an expression takes minutes. This one takes time that grows with both lengths only.
 */

/** More than anybody writes out; braces behind braces multiply. */
const MOST_ALTERNATIVES = 200;

/** Which paths a glob means, told in bounded time. */
export interface GlobPattern {
  /** The names on the way to a file, from the folder that is searched. */
  matches(path: readonly string[]): boolean;
  /** Whether something in this folder can match. */
  reaches(folder: readonly string[]): boolean;
}

/** `*`, `?`, `[a-z]` and `[!a-z]` within a name, `**` for any folders, `{a,b}`; a backslash takes the meaning away. */
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

/** With each of what its braces offer; undefined where these are too many. */
const alternativesOf = (pattern: string): readonly string[] | undefined =>
  expandBraces(pattern, MOST_ALTERNATIVES);

type Step = "any-folders" | NamePattern;

const stepOf = (part: string): Step => (part === "**" ? "any-folders" : namePattern(part));

/** How far one can be in the steps after these names. */
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

/** Any folders may be none. */
function withSkipped(steps: readonly Step[], places: readonly number[]): ReadonlySet<number> {
  const all = new Set<number>();
  for (const place of places) {
    all.add(place);
    for (let at = place; steps[at] === "any-folders"; at++) all.add(at + 1);
  }
  return all;
}

/** The fixed beginning of a pattern belongs to the folder: `/data/logs/*.txt` is `*.txt` in `/data/logs`. */
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

/** Beyond these nobody has written it. */
const LONGEST_PATTERN_CHARS = 1_000;
const MOST_STARS = 20;

/** Why a pattern cannot be searched with, in words. */
export function problemWithPattern(pattern: string): string | undefined {
  if (pattern.length > LONGEST_PATTERN_CHARS)
    return `The pattern is longer than ${LONGEST_PATTERN_CHARS} characters.`;
  if ((pattern.match(/\*+/g) ?? []).length > MOST_STARS)
    return `The pattern has more than ${MOST_STARS} stars.`;
  if (alternativesOf(pattern) === undefined) return "The pattern has braces with too many alternatives.";
  const isUpwards = pattern.split(/[\\/]/).includes("..");
  return isUpwards ? "A pattern cannot lead out of its folder by `..`: say the folder in `path`." : undefined;
}
