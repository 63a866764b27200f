import { changedRegions, type Region } from "./line-diff.ts";

/** Enough to recognise the place. */
const CONTEXT_LINES = 3;
/** What fits a person's patience; the file itself has the rest. */
const MAX_DIFF_LINES = 400;
/** A line of data would fill the screen. */
const MAX_SHOWN_CHARS = 300;

export interface TextDiff {
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

/** What changed, in the usual notation, for people. */
export function unifiedDiff(before: string, after: string): TextDiff {
  const oldLines = linesWithEnds(before);
  const newLines = linesWithEnds(after);
  const regions = changedRegions(oldLines, newLines);
  const rows = hunksOf(regions).flatMap((hunk) => hunkRows(hunk, oldLines, newLines));
  const left = rows.length - MAX_DIFF_LINES;
  const shown = left > 0 ? [...rows.slice(0, MAX_DIFF_LINES), `… ${left} more lines of the diff`] : rows;
  return {
    text: shown.join("\n"),
    added: regions.reduce((sum, { newFrom, newTo }) => sum + newTo - newFrom, 0),
    removed: regions.reduce((sum, { oldFrom, oldTo }) => sum + oldTo - oldFrom, 0),
  };
}

/** With their ends: a last line with one differs from the same without. */
const linesWithEnds = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Regions whose context would touch are shown together. */
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

function hunkRows(
  hunk: readonly Region[],
  oldLines: readonly string[],
  newLines: readonly string[],
): readonly string[] {
  const [first] = hunk;
  const last = hunk.at(-1);
  if (first === undefined || last === undefined) return [];
  const before = Math.min(CONTEXT_LINES, first.oldFrom);
  const after = Math.min(CONTEXT_LINES, oldLines.length - last.oldTo);
  const rows: string[] = [
    `@@ -${span(first.oldFrom - before, last.oldTo + after)} +${span(first.newFrom - before, last.newTo + after)} @@`,
  ];
  let at = first.oldFrom - before;
  for (const { oldFrom, oldTo, newFrom, newTo } of hunk) {
    rows.push(...rowsOf(" ", oldLines.slice(at, oldFrom)));
    rows.push(...rowsOf("-", oldLines.slice(oldFrom, oldTo)));
    rows.push(...rowsOf("+", newLines.slice(newFrom, newTo)));
    at = oldTo;
  }
  rows.push(...rowsOf(" ", oldLines.slice(at, last.oldTo + after)));
  return rows;
}

/** Of nothing, the line behind which it stands. */
const span = (from: number, to: number): string => (to === from ? `${from},0` : `${from + 1},${to - from}`);

function rowsOf(sign: string, lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => {
    const text = line.replace(/\r?\n$/, "");
    const shown = text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS).toWellFormed()}…` : text;
    return line.endsWith("\n") ? [sign + shown] : [sign + shown, "\\ No newline at end of file"];
  });
}
