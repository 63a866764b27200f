/** Fewer than this would say that a conversation ends at once, which nobody knows of a young one. */
const FEWEST_TURNS = 5;
/** So far ahead nobody sees: what pays only after more turns than this is not taken for paying. */
const MOST_TURNS = 100;

/**
 * How many calls a conversation will still make: as many again as it has made. Whatever has lasted long usually lasts
 * long, and it takes nothing to know.
 */
export function expectedTurns(turnsSoFar: number): number {
  const turns = Number.isFinite(turnsSoFar) ? Math.round(turnsSoFar) : 0;
  return Math.min(MOST_TURNS, Math.max(FEWEST_TURNS, turns));
}

/** How many calls fit below the threshold at this pace. A conversation that does not grow never gets there. */
export function turnsOfRoom(roomTokens: number, growthPerTurn: number): number {
  if (!(roomTokens > 0)) return 0;
  return growthPerTurn > 0 ? roomTokens / growthPerTurn : Number.POSITIVE_INFINITY;
}
