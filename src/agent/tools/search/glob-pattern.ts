/** More than anybody writes out; braces behind braces multiply. */
const MOST_ALTERNATIVES = 200;

/**
 * Which paths a glob means. Of our own, and not by regular expressions: those that libraries make of `*a*a*a*a*b` take
 * for ever to find that a long name does not match, and patterns come from models, names from anybody.
 */
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
export function alternativesOf(pattern: string): readonly string[] | undefined {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const braces = firstBraces(next);
    if (braces === undefined) done.push(next);
    else {
      const { from, to, options } = braces;
      for (const option of options) open.push(next.slice(0, from) + option + next.slice(to));
    }
    if (done.length + open.length > MOST_ALTERNATIVES) return undefined;
  }
  return done;
}

interface Braces {
  readonly from: number;
  readonly to: number;
  readonly options: readonly string[];
}

/** Those without a comma, or without an end, are signs like others. */
function firstBraces(pattern: string): Braces | undefined {
  for (let from = 0; from < pattern.length; from++) {
    if (pattern[from] === "\\") from++;
    else if (pattern[from] === "{") {
      const found = bracesAt(pattern, from);
      if (found !== undefined && found.options.length > 1) return found;
    }
  }
  return undefined;
}

function bracesAt(pattern: string, from: number): Braces | undefined {
  const options: string[] = [];
  let [depth, start] = [0, from + 1];
  for (let at = from; at < pattern.length; at++) {
    const sign = pattern[at];
    if (sign === "\\") at++;
    else if (sign === "{") depth++;
    else if (sign === "," && depth === 1) {
      options.push(pattern.slice(start, at));
      start = at + 1;
    } else if (sign === "}" && --depth === 0)
      return { from, to: at + 1, options: [...options, pattern.slice(start, at)] };
  }
  return undefined;
}

type Step = "any-folders" | readonly Sign[];
type Sign = "any-text" | ((character: string) => boolean);

const stepOf = (part: string): Step => (part === "**" ? "any-folders" : signsOf(part));

/** How far one can be in the steps after these names. */
function placesAfter(steps: readonly Step[], names: readonly string[]): ReadonlySet<number> {
  let places = withSkipped(steps, [0]);
  for (const name of names) {
    const characters = [...name];
    const next: number[] = [];
    for (const at of places) {
      const step = steps[at];
      if (step === "any-folders") next.push(at);
      else if (step !== undefined && isNamed(step, characters)) next.push(at + 1);
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

/** Only the last `*` is ever tried again: what an earlier one could take, it can take as well. */
function isNamed(signs: readonly Sign[], name: readonly string[]): boolean {
  let [sign, at, star, starAt] = [0, 0, -1, 0];
  while (at < name.length) {
    const now = signs[sign];
    if (now === "any-text") [star, starAt, sign] = [sign, at, sign + 1];
    else if (now?.(name[at] ?? "")) [sign, at] = [sign + 1, at + 1];
    else if (star >= 0) {
      starAt++;
      [sign, at] = [star + 1, starAt];
    } else return false;
  }
  return signs.slice(sign).every((rest) => rest === "any-text");
}

const CLASS = /^\[([!^]?)(\]?[^\]]*)\]/u;

function signsOf(part: string): readonly Sign[] {
  const signs: Sign[] = [];
  for (let at = 0; at < part.length; ) {
    const rest = part.slice(at);
    const [all, not, members] = CLASS.exec(rest) ?? [];
    const [first = "", second = ""] = rest;
    if (first === "*") signs.push("any-text");
    else if (first === "?") signs.push(() => true);
    else if (all !== undefined) signs.push(oneOf(members ?? "", not !== ""));
    else signs.push(sameAs(first === "\\" && second !== "" ? second : first));
    at += all?.length ?? (first === "\\" ? first.length + second.length : first.length);
  }
  return signs;
}

const sameAs = (wanted: string) => (character: string) => character === wanted;

function oneOf(members: string, isNot: boolean): (character: string) => boolean {
  const ranges = [...members.matchAll(/(.)-(.)|(.)/gsu)].map(([, from, to, single = ""]) => [
    from ?? single,
    to ?? single,
  ]);
  return (character) => ranges.some(([from = "", to = ""]) => character >= from && character <= to) !== isNot;
}
