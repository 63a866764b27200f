/** What a section needs, and its part of the whole when there is not enough for all. */
export interface Need {
  readonly tokens: number;
  readonly share: number;
}

/** Each gets what it needs within its share; what the modest leave goes to the others, by their shares. */
export function allot(needs: readonly Need[], budgetTokens: number): readonly number[] {
  const given = needs.map(() => 0);
  let spare = Math.max(0, budgetTokens);
  let wanting = [...needs.keys()].filter((at) => (needs[at]?.tokens ?? 0) > 0);
  while (wanting.length > 0 && spare >= 1) {
    const shares = wanting.reduce((sum, at) => sum + (needs[at]?.share ?? 0), 0);
    const round = spare;
    for (const at of wanting) {
      const open = (needs[at]?.tokens ?? 0) - (given[at] ?? 0);
      const part = Math.min(open, (round * (needs[at]?.share ?? 0)) / shares);
      given[at] = (given[at] ?? 0) + part;
      spare -= part;
    }
    const still = wanting.filter((at) => (needs[at]?.tokens ?? 0) - (given[at] ?? 0) >= 1);
    if (still.length === wanting.length) break;
    wanting = still;
  }
  return given.map(Math.floor);
}
