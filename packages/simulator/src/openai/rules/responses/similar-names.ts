/** Maximum number of edits between a misspelled name and a suggested one. */
const MAX_EDITS = 2;

/** Returns the names that are at most two edits away, the nearest first. */
export function similarNames(name: string, names: readonly string[]): readonly string[] {
  return names
    .filter(({ length }) => Math.abs(length - name.length) <= MAX_EDITS)
    .map((one) => ({ one, edits: editsBetween(name, one) }))
    .filter(({ edits }) => edits <= MAX_EDITS)
    .sort((a, b) => a.edits - b.edits || (a.one < b.one ? -1 : 1))
    .map(({ one }) => one);
}

/** Returns the Levenshtein distance of two short texts. */
function editsBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const change = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(change, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[b.length] ?? 0;
}
