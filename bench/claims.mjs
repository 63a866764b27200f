import { table, times } from "./table.mjs";

/** A figure that was promised beside the one that was measured. Reported, never enforced: machines differ. */
export function claim(what, promised, measured, isReached, show = times) {
  return { what, promised, measured: show(measured), isReached: isReached(measured) };
}

export function claimsTable(claims) {
  const rows = claims.map(({ what, promised, measured, isReached }) => ({
    cells: [what, promised, measured, isReached ? "reached" : "NOT REACHED"],
  }));
  return table("Claims", ["figure", "promised", "measured", ""], rows);
}
