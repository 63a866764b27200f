import { diffArrays } from "diff";
import { decodeText } from "./file-text.ts";

/** Number of context lines around a change, enough to recognize its position. */
const CONTEXT_LINES = 3;
/**
 * Maximum number of lines of a diff. People do not read longer diffs here. They can open the file instead.
 */
const MAX_DIFF_LINES = 400;
/** Maximum length of a line. A long line of data would fill the screen. */
const MAX_SHOWN_CHARS = 300;
/** Characters shown before the difference in a cut line. */
const SHOWN_BEFORE_CHARS = 100;

interface TextDiff {
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

/**
 * Writes a unified diff for people. `whole` omits nothing, because a person who is asked for permission must
 * be able to see the entire change. The screen cuts long output itself.
 */
export function unifiedDiff(before: string, after: string, reach: "short" | "whole" = "short"): TextDiff {
  const oldLines = linesWithEnds(before);
  const newLines = linesWithEnds(after);
  const regions = changedRegions(oldLines, newLines);
  const shown: string[] = [];
  let left = 0;
  const mostChars = reach === "whole" ? Number.POSITIVE_INFINITY : MAX_SHOWN_CHARS;
  for (const hunk of hunksOf(regions))
    for (const row of hunkRows(hunk, oldLines, newLines, mostChars)) {
      if (reach === "whole" || shown.length < MAX_DIFF_LINES) shown.push(row);
      else left += 1;
    }
  if (left > 0) shown.push(`… ${left} more lines of the diff`);
  return {
    text: shown.join("\n"),
    added: regions.reduce((sum, { newFrom, newTo }) => sum + newTo - newFrom, 0),
    removed: regions.reduce((sum, { oldFrom, oldTo }) => sum + oldTo - oldFrom, 0),
  };
}

/** Compares two contents of a file. Binary content counts as empty. */
export function diffOf(
  before: Buffer | undefined,
  after: Buffer,
  reach?: Parameters<typeof unifiedDiff>[2],
): TextDiff {
  const text = (bytes: Buffer | undefined): string =>
    bytes === undefined ? "" : (decodeText(bytes)?.text ?? "");
  return unifiedDiff(text(before), text(after), reach);
}

export const countsIn = ({ added, removed }: TextDiff): string => `+${added} −${removed}`;

/**
 * Splits a text into lines. The lines keep their line ends, because a last line with a line end differs from
 * one without.
 */
const linesWithEnds = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Merges regions whose context lines would touch. */
function hunksOf(regions: readonly Region[]): readonly (readonly Region[])[] {
  const hunks: Region[][] = [];
  for (const region of regions) {
    const hunk = hunks.at(-1);
    const last = hunk?.at(-1);
    if (hunk !== undefined && last !== undefined && region.oldFrom - last.oldTo <= 2 * CONTEXT_LINES)
      hunk.push(region);
    else hunks.push([region]);
  }
  return hunks;
}

/** Yields the rows lazily, because a diff of a whole file has many rows and only a few are shown. */
function* hunkRows(
  hunk: readonly Region[],
  oldLines: readonly string[],
  newLines: readonly string[],
  mostChars: number,
): Generator<string> {
  const [first] = hunk;
  const last = hunk.at(-1);
  if (first === undefined || last === undefined) return;
  const before = Math.min(CONTEXT_LINES, first.oldFrom);
  const after = Math.min(CONTEXT_LINES, oldLines.length - last.oldTo);
  yield `@@ -${span(first.oldFrom - before, last.oldTo + after)} +${span(first.newFrom - before, last.newTo + after)} @@`;
  let at = first.oldFrom - before;
  for (const { oldFrom, oldTo, newFrom, newTo } of hunk) {
    yield* rowsOf(" ", oldLines.slice(at, oldFrom), MAX_SHOWN_CHARS);
    const [removed, added] = [oldLines.slice(oldFrom, oldTo), newLines.slice(newFrom, newTo)];
    yield* rowsOf("-", removed, mostChars, added);
    yield* rowsOf("+", added, mostChars, removed);
    at = oldTo;
  }
  yield* rowsOf(" ", oldLines.slice(at, last.oldTo + after), MAX_SHOWN_CHARS);
}

/** Formats a range of lines. An empty range refers to the line before it. */
const span = (from: number, to: number): string => (to === from ? `${from},0` : `${from + 1},${to - from}`);

/** Yields the rows of some lines. `others` are the corresponding lines of the other text. */
function* rowsOf(
  sign: string,
  lines: readonly string[],
  mostChars: number,
  others: readonly string[] = [],
): Generator<string> {
  for (const [index, line] of lines.entries()) {
    yield sign + cutAround(line.replace(/\r?\n$/, ""), mostChars, others[index]);
    if (!line.endsWith("\n")) yield "\\ No newline at end of file";
  }
}

/** Cuts a long line around its difference, so that the person sees what would change. */
function cutAround(line: string, mostChars: number, other: string | undefined): string {
  if (line.length <= mostChars) return line;
  let same = 0;
  while (other !== undefined && same < line.length && line[same] === other[same]) same += 1;
  const from = Math.max(0, Math.min(same - SHOWN_BEFORE_CHARS, line.length - mostChars));
  const part = line.slice(from, from + mostChars).toWellFormed();
  return `${from > 0 ? "…" : ""}${part}${from + mostChars < line.length ? "…" : ""}`;
}

/** Replaced range of lines, counted from 0, with exclusive ends. Either side can be empty. */
interface Region {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/**
 * Maximum number of differing lines: more than a person can compare. Beyond this the search costs more than
 * it is worth.
 */
const MAX_DIFFERENCES = 1_000;

/**
 * Finds the regions in which two lists of lines differ, in order. If there are too many differences, returns
 * one region that contains all of them.
 */
export function changedRegions(before: readonly string[], after: readonly string[]): readonly Region[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const [oldEnd, newEnd] = [before.length - end, after.length - end];
  const parts = diffArrays(before.slice(start, oldEnd), after.slice(start, newEnd), {
    maxEditLength: MAX_DIFFERENCES,
  });
  if (parts === undefined) return [{ oldFrom: start, oldTo: oldEnd, newFrom: start, newTo: newEnd }];
  const regions: Region[] = [];
  let [oldAt, newAt] = [start, start];
  for (const { added, removed, count } of parts) {
    const [oldFrom, newFrom] = [oldAt, newAt];
    if (!added) oldAt += count;
    if (!removed) newAt += count;
    if (!added && !removed) continue;
    // Merges a removal and an addition at the same position.
    const last = regions.at(-1);
    const isSame = last?.oldTo === oldFrom && last.newTo === newFrom;
    const from = isSame ? regions.pop() : undefined;
    regions.push({ oldFrom, newFrom, ...from, oldTo: oldAt, newTo: newAt });
  }
  return regions;
}
