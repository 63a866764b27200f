import type { Thresholds } from "./thresholds.ts";

/** Most numbers are made for this window; smaller ones have them in proportion. */
const USUAL_WINDOW_TOKENS = 200_000;

/** A number of tokens that was made for the usual window, for the window at hand. */
export const inProportion = ({ size }: Pick<Thresholds, "size">, tokens: number): number =>
  Math.floor(tokens * Math.min(1, size / USUAL_WINDOW_TOKENS));
