/** Lines that were replaced: from the first to before the last, counted from 0. Either side may be empty. */
export interface Region {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** More lines than anybody compares by eye; beyond it the search costs more than it tells. */
const MOST_DIFFERENCES = 1_000;

/** Where two lists of lines differ, in order. What has too many differences is one region. */
export function changedRegions(before: readonly string[], after: readonly string[]): readonly Region[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const whole: Region = {
    oldFrom: start,
    oldTo: before.length - end,
    newFrom: start,
    newTo: after.length - end,
  };
  if (whole.oldFrom === whole.oldTo && whole.newFrom === whole.newTo) return [];
  if (whole.oldFrom === whole.oldTo || whole.newFrom === whole.newTo) return [whole];
  const matches = matchedLines(before.slice(start, whole.oldTo), after.slice(start, whole.newTo));
  return matches === undefined ? [whole] : regionsBetween(matches, whole);
}

type Match = readonly [oldLine: number, newLine: number];

/** What lies between lines that stayed. */
function regionsBetween(matches: readonly Match[], whole: Region): readonly Region[] {
  const regions: Region[] = [];
  let { oldFrom, newFrom } = whole;
  const end: Match = [whole.oldTo - whole.oldFrom, whole.newTo - whole.newFrom];
  for (const [oldLine, newLine] of [...matches, end]) {
    const oldTo = whole.oldFrom + oldLine;
    const newTo = whole.newFrom + newLine;
    if (oldTo > oldFrom || newTo > newFrom) regions.push({ oldFrom, oldTo, newFrom, newTo });
    oldFrom = oldTo + 1;
    newFrom = newTo + 1;
  }
  return regions;
}

/**
 * Myers' search for the fewest differences: for each count of them, how many old lines each diagonal (old line less
 * new line) gets through. Undefined where there are too many.
 */
function matchedLines(before: readonly string[], after: readonly string[]): readonly Match[] | undefined {
  const most = Math.min(before.length + after.length, MOST_DIFFERENCES);
  const middle = most + 1;
  const reached = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let count = 0; count <= most; count += 1) {
    // Only the diagonals that can be reached by now, so that the memory goes with the square of the differences.
    trace.push(reached.slice(middle - count - 1, middle + count + 2));
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      let oldLine = startOn(reached, middle, diagonal, count);
      while (oldLine < before.length && before[oldLine] === after[oldLine - diagonal]) oldLine += 1;
      reached[middle + diagonal] = oldLine;
      if (oldLine >= before.length && oldLine - diagonal >= after.length)
        return walkBack(trace, before.length, after.length);
    }
  }
  return undefined;
}

/** Where a diagonal begins after one more difference. */
function startOn(reached: Int32Array, middle: number, diagonal: number, count: number): number {
  if (count === 0) return 0;
  return isAdded(reached, middle, diagonal, count)
    ? (reached[middle + diagonal + 1] ?? 0)
    : (reached[middle + diagonal - 1] ?? 0) + 1;
}

/** Whether the last difference before this diagonal is an added line; otherwise one was removed. */
function isAdded(reached: Int32Array, middle: number, diagonal: number, count: number): boolean {
  if (diagonal === -count || diagonal === count) return diagonal === -count;
  return (reached[middle + diagonal - 1] ?? 0) < (reached[middle + diagonal + 1] ?? 0);
}

function walkBack(trace: readonly Int32Array[], oldLength: number, newLength: number): readonly Match[] {
  const matches: Match[] = [];
  let oldLine = oldLength;
  let newLine = newLength;
  for (const [count, reached] of [...trace.entries()].reverse()) {
    const diagonal = oldLine - newLine;
    for (const start = startOn(reached, count + 1, diagonal, count); oldLine > start; ) {
      oldLine -= 1;
      newLine -= 1;
      matches.push([oldLine, newLine]);
    }
    if (isAdded(reached, count + 1, diagonal, count)) newLine -= 1;
    else oldLine -= 1;
  }
  return matches.reverse();
}
