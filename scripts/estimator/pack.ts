/** The inverse of packages/core/src/measure/tokens/estimate/learned-tables.ts. */
import {
  REPEAT_MARK,
  weightOfLevel,
} from "../../packages/core/src/measure/tokens/estimate/learned-tables.ts";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export function packWeights(weights: Float64Array): string {
  const levels = Array.from({ length: 64 }, (_, level) => weightOfLevel(level));
  const nearest = (weight: number): number =>
    levels.reduce(
      (best, value, level) =>
        Math.abs(value - weight) < Math.abs((levels[best] ?? 0) - weight) ? level : best,
      0,
    );
  const digits = [...weights].map((weight) => DIGITS[nearest(weight)] ?? "A").join("");
  return digits.replace(/(.)\1{4,4000}/g, (run, digit: string) => {
    const again = run.length - 1;
    return digit + REPEAT_MARK + DIGITS[again >> 6] + DIGITS[again & 63];
  });
}

export function packSet(places: Uint8Array): string {
  let packed = "";
  let gap = 0;
  for (const member of places) {
    if (member === 0) gap++;
    else {
      packed += "/".repeat(Math.floor(gap / 63)) + DIGITS[gap % 63];
      gap = 0;
    }
  }
  return packed;
}
