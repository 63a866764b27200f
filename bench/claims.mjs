import { table, times } from "./table.mjs";

/**
 * Prints a promised figure next to the measured one. The promise is not enforced, because machines differ.
 */
export function claim(what, promised, measured, isReached, show = times) {
  return { what, promised, measured: show(measured), isReached: isReached(measured) };
}

export function claimsTable(claims) {
  const rows = claims.map(({ what, promised, measured, isReached }) => ({
    cells: [what, promised, measured, isReached ? "reached" : "NOT REACHED"],
  }));
  return table("Claims", ["figure", "promised", "measured", ""], rows);
}
