/** Seeded randomness: equal seeds give the demo, the simulator and tests equal results. */
export interface Random {
  /** Returns an integer from `low` to `high`, both included. */
  between(low: number, high: number): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
  hex(length: number): string;
  base62(length: number): string;
  uuid(): string;
}

const BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export function createRandom(seed: number): Random {
  const next = mulberry32(seed);
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  const letters = (alphabet: string, length: number): string =>
    Array.from({ length }, () => alphabet.charAt(between(0, alphabet.length - 1))).join("");
  const hex = (length: number): string => letters("0123456789abcdef", length);
  return {
    between,
    pick: (choices) => choices[between(0, choices.length - 1)] ?? choices[0],
    hex,
    base62: (length) => letters(BASE_62, length),
    // Creates a valid UUID of version 4, variant 1, because some readers of sessions validate UUIDs.
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-${letters("89ab", 1)}${hex(3)}-${hex(12)}`,
  };
}

/**
 * Creates a random function. It is small, well distributed, and equal on every machine, because it uses only
 * 32-bit integers.
 */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
