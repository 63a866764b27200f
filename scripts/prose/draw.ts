// Draws texts at random, the same ones for the same seed.
import { createHash } from "node:crypto";

/** Sorts by a digest of the seed and the position: a draw without replacement that needs no generator. */
export function draw<T>(texts: readonly T[], count: number, seed: number): readonly T[] {
  const keyed = texts.map((text, at) => ({
    text,
    key: createHash("sha256").update(`${seed}:${at}`).digest("hex"),
  }));
  return keyed
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .slice(0, count)
    .map(({ text }) => text);
}
