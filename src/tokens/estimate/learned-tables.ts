import { SET_BITS, WEIGHTS } from "./layout.ts";

/** Tables that the training script learned from a vocabulary. */
export interface LearnedTables {
  /** Cost per feature in WEIGHT_UNITs, indexed by the slots of layout.ts. */
  readonly weights: Uint16Array;
  /** One byte per place: is this a word that is a single token? */
  readonly words: Uint8Array;
  /** One byte per place: is this a run of CJK characters within a token? */
  readonly cjk: Uint8Array;
}

/** The same as text: weights as one letter each, sets as gaps between members. */
export type PackedTables = Readonly<Record<keyof LearnedTables, string>>;

export const unpackTables = ({ weights, words, cjk }: PackedTables): LearnedTables => ({
  weights: unpackWeights(weights),
  words: unpackSet(words),
  cjk: unpackSet(cjk),
});

/** Weights are whole numbers of this part of a token: adding integers is the fastest a processor can do. */
export const WEIGHT_UNIT = 4096;

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUE_OF: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  Math.max(0, DIGITS.indexOf(String.fromCharCode(code))),
);
const LARGEST_DIGIT = 63;
/** In packed weights: the next two digits say how often the weight before it is repeated. */
export const REPEAT_MARK = "!";

/** Levels 0 to 48 lie between 0 and 1 tokens and are dense at both ends, where most features are. */
const UNIT_LEVELS = 48;
const COARSE_STEP = 0.25;

export function weightOfLevel(level: number): number {
  if (level > UNIT_LEVELS) return 1 + (level - UNIT_LEVELS) * COARSE_STEP;
  return Math.sin((Math.PI / 2) * (level / UNIT_LEVELS)) ** 2;
}

export function unpackWeights(packed: string): Uint16Array {
  const weights = new Uint16Array(WEIGHTS);
  const digit = (index: number): number => VALUE_OF[packed.charCodeAt(index)] ?? 0;
  let slot = 0;
  for (let index = 0; index < packed.length; index++) {
    if (packed[index] === REPEAT_MARK) {
      const end = slot + digit(index + 1) * 64 + digit(index + 2);
      weights.fill(weights[slot - 1] ?? 0, slot, end);
      slot = end;
      index += 2;
    } else {
      weights[slot++] = Math.round(weightOfLevel(digit(index)) * WEIGHT_UNIT);
    }
  }
  return weights;
}

function unpackSet(packed: string): Uint8Array {
  const places = new Uint8Array(1 << SET_BITS);
  let place = -1;
  for (let index = 0; index < packed.length; index++) {
    const gap = VALUE_OF[packed.charCodeAt(index)] ?? 0;
    place += gap;
    if (gap < LARGEST_DIGIT) places[++place] = 1;
  }
  return places;
}
