// Draws texts at random. The same seed draws the same texts.
import { createHash } from "node:crypto";

/**
 * Returns `count` texts. It sorts all texts by a digest of the seed and the position, and returns the first
 * ones. So no text is drawn twice, and no random generator is needed.
 */
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
