import { createRandom, type Random } from "../../packages/simulator/src/demo/random.ts";
import { stockOfText } from "../support/stock-text.ts";

/** Start of every text of a schedule. No two texts have the same marker. */
const MARKERS = /mk-\d+-[0-9a-f]{6}/g;
const OPENING_MARKER = /^mk-\d+-[0-9a-f]{6}/;

const STOCK_CHARACTERS = 400_000;
const CHARACTERS_PER_TOKEN = 4;
const PIECE_CHARACTERS = 160;

const STOCK = stockOfText(createRandom(1), STOCK_CHARACTERS);

/**
 * A black PNG of 1,200 by 1,250 pixels. Claude bills 2,000 tokens for this area. The simulator bills 2,000
 * tokens for any picture.
 */
export const PICTURE_DATA: string = [
  "iVBORw0KGgoAAAANSUhEUgAABLAAAATiAQAAAACCHCeeAAAAzklEQVR42u3BMQEAAADCoPVPbQ0Po",
  "A".repeat(243),
  "gE8D4WwAAbDuduYAAAAASUVORK5CYII=",
].join("");

/** Texts of a schedule, each with its own marker. */
export class Texts {
  readonly #random: Random;
  #count = 0;

  constructor(seed: number) {
    this.#random = createRandom(seed);
  }

  /** Creates a text of about this many tokens that starts with a new marker. */
  text(tokens: number): string {
    this.#count += 1;
    const marker = `mk-${this.#count}-${this.#random.hex(6)}`;
    const length = Math.min(STOCK_CHARACTERS, Math.round(tokens * CHARACTERS_PER_TOKEN));
    const start = this.#random.between(0, STOCK_CHARACTERS - length);
    return `${marker}: ${STOCK.slice(start, start + length)}`;
  }
}

export const openingMarker = (text: string): string | undefined => OPENING_MARKER.exec(text)?.[0];

export const markersIn = (text: string): ReadonlySet<string> => new Set(text.match(MARKERS));

/** Counts the characters of a text that another text still contains verbatim. */
export function charactersKept(whole: string, left: string): number {
  let kept = 0;
  for (let at = 0; at < whole.length; at += PIECE_CHARACTERS) {
    const piece = whole.slice(at, at + PIECE_CHARACTERS);
    if (left.includes(piece)) kept += piece.length;
  }
  return kept;
}

export const roughTokens = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);
