/** Further away it is another word. */
const MOST_MISTAKES = 2;

/** The name that was probably meant; undefined where none is near. */
export function nearest(written: string, names: readonly string[]): string | undefined {
  const begun = names.filter((name) => name.startsWith(written));
  if (begun.length === 1) return begun[0];
  const ranked = names
    .map((name) => ({ name, mistakes: mistakesBetween(written, name) }))
    .sort((a, b) => a.mistakes - b.mistakes);
  const [best] = ranked;
  return best !== undefined && best.mistakes <= MOST_MISTAKES ? best.name : begun[0];
}

/** How many letters must be added, taken away or changed. */
function mistakesBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const change = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
