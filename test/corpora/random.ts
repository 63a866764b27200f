/** Choices that depend only on a seed, so that every corpus is the same text on every machine. */
export interface Choices {
  below(limit: number): number;
  between(low: number, high: number): number;
  pick<T>(items: readonly T[]): T;
  chance(probability: number): boolean;
  digits(count: number): string;
  hex(count: number): string;
  letters(count: number): string;
}

const HEX = "0123456789abcdef";
const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

export function choices(seed: number): Choices {
  let state = seed | 0;
  const unit = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit: number): number => Math.floor(unit() * limit);
  const characters = (alphabet: string, count: number): string =>
    Array.from({ length: count }, () => alphabet[below(alphabet.length)]).join("");
  return {
    below,
    between: (low, high) => low + below(high - low + 1),
    pick: <T>(items: readonly T[]): T => items[below(items.length)] as T,
    chance: (probability) => unit() < probability,
    digits: (count) => characters("0123456789", count),
    hex: (count) => characters(HEX, count),
    letters: (count) => characters(ALPHANUMERIC, count),
  };
}

/** Adds parts until the text is long enough. */
export function grow(length: number, separator: string, part: () => string): string {
  const parts: string[] = [];
  for (let size = 0; size < length; ) {
    const next = part();
    parts.push(next);
    size += next.length + separator.length;
  }
  return parts.join(separator);
}

/** Replaces each {name} with an item of the named list. */
export function fill(
  template: string,
  slots: Readonly<Record<string, readonly string[]>>,
  from: Choices,
): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const items = slots[name];
    return items ? from.pick(items) : whole;
  });
}
