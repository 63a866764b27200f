import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/**
 * Number of compared characters. Only the beginnings of longer texts are compared, because the cost grows
 * with the length.
 */
const COMPARED_CHARS = 400;
/** Maximum number of folder entries to compare. */
const MAX_NAMES = 5_000;
const MAX_SUGGESTIONS = 3;
const MIN_CLOSENESS = 0.5;

/**
 * Returns a function that compares a text with `wanted`. Its result is the similarity from 0 to 1: the share
 * of character pairs that both texts have.
 */
export function closenessTo(wanted: string): (text: string) => number {
  const pairs = pairsOf(wanted);
  const count = sum(pairs);
  return (text) => {
    if (text === wanted) return 1;
    const others = pairsOf(text);
    const total = count + sum(others);
    if (total === 0) return 0;
    let common = 0;
    for (const [pair, times] of others) common += Math.min(times, pairs.get(pair) ?? 0);
    return (2 * common) / total;
  };
}

function pairsOf(text: string): ReadonlyMap<string, number> {
  const pairs = new Map<string, number>();
  for (let at = 0; at + 1 < Math.min(text.length, COMPARED_CHARS); at += 1) {
    const pair = text.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

const sum = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((so, count) => so + count, 0);

/** Finds files in the same folder with similar names, most similar first. */
export async function similarFiles(path: string): Promise<readonly string[]> {
  const wanted = basename(path).toLowerCase();
  const closeness = closenessTo(wanted);
  const names = await readdir(dirname(path)).catch(() => []);
  return names
    .slice(0, MAX_NAMES)
    .map((name) => ({
      name,
      score: isSameStem(name.toLowerCase(), wanted) ? 1 : closeness(name.toLowerCase()),
    }))
    .filter(({ score }) => score >= MIN_CLOSENESS)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => join(dirname(path), name));
}

/**
 * Checks for the same name with a different extension, which is a more likely mistake than a different name.
 */
function isSameStem(name: string, wanted: string): boolean {
  const stem = (file: string): string => file.replace(/\.[^.]*$/, "");
  return stem(name) === stem(wanted);
}
