import { type Passage, readContext } from "./read-context.ts";
import { statementsIn } from "./stuffing.ts";
import type { Stance, WordGroup } from "./types.ts";

/** A context that is read once and asked many times. */
export interface PassageIndex {
  readonly passages: readonly Passage[];
  /** The units that may have enough words of every group. */
  unitsWith(groups: readonly WordGroup[]): readonly Unit[];
  /** The passages in which a literal begins, in order. */
  withLiteral(form: string): readonly number[];
  /** All passages on the line of a passage. */
  lineOf(index: number): readonly Passage[];
  /** Stances of all passages on the line of a passage. */
  lineStances(index: number): ReadonlySet<Stance>;
}

/** Passages that are read together. */
export interface Unit {
  readonly start: number;
  readonly end: number;
}

/**
 * A fact may be spread over neighboring sentences, up to this many content words. Larger units would hold
 * probes by chance.
 */
const MAX_UNIT_STEMS = 45;

export const indexText = (text: string): PassageIndex => indexPassages(readContext(text));

/** Indexes the passages of a summary that state something. */
export const indexStatements = ({ passages }: PassageIndex): PassageIndex =>
  indexPassages(statementsIn(passages));

function indexPassages(passages: readonly Passage[]): PassageIndex {
  const postings = new Map<string, number[]>();
  const starts: number[] = [];
  let [flat, length] = [[] as string[], 0];
  for (const [index, { form, stems }] of passages.entries()) {
    starts.push(length);
    flat.push(form);
    length += form.length + 1;
    for (const stem of stems) {
      const list = postings.get(stem);
      if (list === undefined) postings.set(stem, [index]);
      else list.push(index);
    }
  }
  const whole = ` ${flat.join(" ")} `;
  flat = [];
  const ends = passages.map((_, index) => endOfUnit(passages, index));
  const literals = new Map<string, readonly number[]>();
  return {
    passages,
    unitsWith: (groups) => unitsWith(groups, postings, ends),
    withLiteral: (form) => {
      const known = literals.get(form) ?? placesOf(whole, form, starts);
      literals.set(form, known);
      return known;
    },
    lineOf: (index) => lineOf(passages, index),
    lineStances: (index) => new Set(lineOf(passages, index).flatMap(({ stances }) => [...stances])),
  };
}

/**
 * Adds up the words of each unit. A word that stands twice counts twice, so a unit may still have too few
 * different words.
 */
function unitsWith(
  groups: readonly WordGroup[],
  postings: ReadonlyMap<string, readonly number[]>,
  ends: readonly number[],
): Unit[] {
  const sums = groups.map(({ words }) => weightsOf(words, postings));
  const starts = [...new Set(sums.flatMap((sum) => [...sum.keys()]))].sort((a, b) => a - b);
  const needed = groups.map(({ words, share }) => share * words.reduce((sum, [, weight]) => sum + weight, 0));
  const inside = groups.map(() => 0);
  const units: Unit[] = [];
  let next = 0;
  for (const start of starts) {
    const end = ends[start] ?? start;
    for (; (starts[next] ?? Number.POSITIVE_INFINITY) <= end; next++) {
      for (const [group, sum] of sums.entries())
        inside[group] = (inside[group] ?? 0) + (sum.get(starts[next] ?? -1) ?? 0);
    }
    if (inside.every((sum, group) => sum >= (needed[group] ?? 0) - ROUNDING)) units.push({ start, end });
    for (const [group, sum] of sums.entries()) inside[group] = (inside[group] ?? 0) - (sum.get(start) ?? 0);
  }
  return units;
}

/** Sums of weights differ by this much at most, depending on their order. */
const ROUNDING = 1e-6;

function weightsOf(
  words: WordGroup["words"],
  postings: ReadonlyMap<string, readonly number[]>,
): Map<number, number> {
  const sums = new Map<number, number>();
  for (const [stem, weight] of words) {
    for (const at of postings.get(stem) ?? []) sums.set(at, (sums.get(at) ?? 0) + weight);
  }
  return sums;
}

function placesOf(whole: string, form: string, starts: readonly number[]): readonly number[] {
  if (form === "") return [];
  const found = new Set<number>();
  const wanted = ` ${form} `;
  for (let at = whole.indexOf(wanted); at !== -1; at = whole.indexOf(wanted, at + 1)) {
    found.add(passageAt(starts, at));
  }
  return [...found];
}

/** Returns the index of the last start at or before the place. */
function passageAt(starts: readonly number[], place: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

function endOfUnit(passages: readonly Passage[], index: number): number {
  const first = passages[index];
  if (first === undefined) return index;
  let [end, stems] = [index, first.stems.length];
  for (;;) {
    const next = passages[end + 1];
    if (next === undefined || next.section !== first.section) return end;
    stems += next.stems.length;
    if (stems > MAX_UNIT_STEMS) return end;
    end++;
  }
}

function lineOf(passages: readonly Passage[], index: number): readonly Passage[] {
  const line = passages[index]?.line;
  let [start, end] = [index, index + 1];
  while (start > 0 && passages[start - 1]?.line === line) start--;
  while (end < passages.length && passages[end]?.line === line) end++;
  return passages.slice(start, end);
}

/** Returns the share of the weight of a group that the stems cover. */
export function shareOf({ words }: WordGroup, stems: ReadonlySet<string>): number {
  let [sum, found] = [0, 0];
  for (const [stem, weight] of words) {
    sum += weight;
    if (stems.has(stem)) found += weight;
  }
  return sum === 0 ? 0 : found / sum;
}
