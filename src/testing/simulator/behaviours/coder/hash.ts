/** Beyond this the two ends stand for the whole: a long paste must not cost more than it says. */
const MAX_HASHED_CHARS = 8_000;

/** A 32-bit number for a text (FNV-1a with a final mix): the same everywhere, cheap, and well spread. */
export function hashText(text: string, seed = 0): number {
  const half = MAX_HASHED_CHARS / 2;
  const part = text.length <= MAX_HASHED_CHARS ? text : text.slice(0, half) + text.length + text.slice(-half);
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let index = 0; index < part.length; index++) {
    hash = Math.imul(hash ^ part.charCodeAt(index), 0x01000193) >>> 0;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) >>> 0;
  return (hash ^ (hash >>> 16)) >>> 0;
}
