/**
 * Patterns for one name of a path. We match them ourselves because the regular expressions that libraries
 * build from `*a*a*a*a*b` take exponential time on a long name. Patterns come from models, and names from
 * anybody.
 */

/** The parts of a name pattern. */
export type NamePattern = readonly NamePiece[];
type NamePiece = "any-run" | ((character: string) => boolean);

/**
 * Returns true if the pattern matches the whole name.
 * @param name The characters of the name.
 */
export const fitsName = (pattern: NamePattern, name: readonly string[]): boolean =>
  matchesRuns(
    pattern,
    name,
    (piece) => piece === "any-run",
    (piece, character) => piece !== "any-run" && piece(character),
  );

/**
 * Returns true if the pattern matches the whole text. Some pieces match a run of any length. Only the last
 * run is ever retried, because a shorter earlier run leaves no better choices. The number of steps is
 * therefore at most the length of the pattern times the length of the text.
 */
export function matchesRuns<P, T>(
  pattern: readonly P[],
  text: readonly T[],
  isRun: (piece: P) => boolean,
  fits: (piece: P, item: T) => boolean,
): boolean {
  let piece = 0;
  let item = 0;
  let lastRun = -1;
  let takenUpTo = 0;
  while (item < text.length) {
    const current = pattern[piece];
    if (current !== undefined && isRun(current)) {
      lastRun = piece++;
      takenUpTo = item;
    } else if (current !== undefined && fits(current, text[item] as T)) {
      piece++;
      item++;
    } else if (lastRun >= 0) {
      piece = lastRun + 1;
      item = ++takenUpTo;
    } else return false;
  }
  return pattern.slice(piece).every(isRun);
}

/** Parses `*`, `?`, `[a-z]` and `[!a-z]`. A backslash escapes the next character. */
export function namePattern(text: string): NamePattern {
  const characters = [...text];
  const pieces: NamePiece[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at];
    if (character === "*") {
      if (pieces.at(-1) !== "any-run") pieces.push("any-run");
    } else if (character === "?") pieces.push(() => true);
    else if (character === "[") {
      const set = setAt(characters, at);
      pieces.push(set?.has ?? isExactly("["));
      at = set?.end ?? at;
    } else if (character === "\\" && at + 1 < characters.length) pieces.push(isExactly(characters[++at]));
    else pieces.push(isExactly(character));
  }
  return pieces;
}

const isExactly =
  (expected: string | undefined) =>
  (character: string): boolean =>
    character === expected;

interface CharacterSet {
  readonly has: (character: string) => boolean;
  /** Position of the closing bracket. */
  readonly end: number;
}

/** Parses `[abc]`, `[a-z]` or `[!abc]`. An unclosed bracket is a literal bracket. */
function setAt(characters: readonly string[], start: number): CharacterSet | undefined {
  const isNot = characters[start + 1] === "!" || characters[start + 1] === "^";
  const first = start + (isNot ? 2 : 1);
  const end = characters.indexOf("]", first + 1);
  if (end < 0) return undefined;
  const ranges: (readonly [string, string])[] = [];
  for (let at = first; at < end; at++) {
    const from = characters[at] ?? "";
    const isRange = characters[at + 1] === "-" && at + 2 < end;
    ranges.push([from, isRange ? (characters[at + 2] ?? "") : from]);
    if (isRange) at += 2;
  }
  const isIn = (character: string): boolean =>
    ranges.some(([from, to]) => from <= character && character <= to);
  return { has: (character) => isIn(character) !== isNot, end };
}

/**
 * Expands `{a,b}` to every combination, nested braces included. Returns undefined if there are more than
 * `most`.
 */
export function expandBraces(pattern: string, most: number): readonly string[] | undefined {
  const done: string[] = [];
  const open = [pattern];
  while (open.length > 0) {
    const text = open.pop() ?? "";
    const choice = firstChoice(text);
    if (choice === undefined) done.push(text);
    else {
      const { start, end, parts } = choice;
      open.push(...parts.map((part) => text.slice(0, start) + part + text.slice(end + 1)).reverse());
    }
    if (done.length + open.length > most) return undefined;
  }
  return done;
}

interface Choice {
  readonly start: number;
  readonly end: number;
  readonly parts: readonly string[];
}

/** Finds the first closed braces that contain a comma, innermost first. All other braces are literal. */
function firstChoice(text: string): Choice | undefined {
  /** Open braces and their commas. */
  const open: { readonly start: number; readonly commas: number[] }[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") at++;
    else if (character === "{") open.push({ start: at, commas: [] });
    else if (character === ",") open.at(-1)?.commas.push(at);
    else if (character === "}") {
      const last = open.pop();
      if (last === undefined || last.commas.length === 0) continue;
      const edges = [last.start, ...last.commas, at];
      const parts = edges.slice(1).map((edge, index) => text.slice((edges[index] ?? 0) + 1, edge));
      return { start: last.start, end: at, parts };
    }
  }
  return undefined;
}
