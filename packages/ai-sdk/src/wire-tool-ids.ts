import type { ToolIdLimits } from "./dialect.ts";

const CANONICAL = /^[a-zA-Z0-9_-]+$/;
/**
 * Prefix of an id whose forbidden characters are written as `_<hex>_`. An id that already starts with this
 * prefix is escaped too.
 */
const ESCAPED = "esc-";

/** Converts a provider's tool id to permitted characters. {@link wireToolId} restores the id. */
export function canonicalToolId(wireId: string): string {
  if (CANONICAL.test(wireId) && !wireId.startsWith(ESCAPED)) return wireId;
  const escaped = wireId.replace(
    /[^a-zA-Z0-9-]/g,
    (character) => `_${character.charCodeAt(0).toString(16)}_`,
  );
  return `${ESCAPED}${escaped}`;
}

/**
 * Restores the provider's id, or derives an id that fits the provider's limits. Returns the same result for
 * the same id.
 */
export function wireToolId(id: string, { maxLength, isFixedLength }: ToolIdLimits): string {
  const original = id.startsWith(ESCAPED) ? unescaped(id.slice(ESCAPED.length)) : id;
  if (isFixedLength) {
    const fits = original.length === maxLength && /^[a-zA-Z0-9]*$/.test(original);
    return fits ? original : digest(original, maxLength);
  }
  if (original.length <= maxLength) return original;
  return `${original.slice(0, maxLength - DIGEST_CHARACTERS - 1)}_${digest(original, DIGEST_CHARACTERS)}`;
}

/**
 * Returns an id that is unique in the conversation. Some servers use the same call ids again in each reply.
 */
export function unusedToolId(wanted: string, used: ReadonlySet<string>): string {
  const base = wanted === "" ? "call" : wanted;
  let id = base;
  for (let count = 2; id === "" || used.has(id); count++) id = `${base}-${count}`;
  return id;
}

const unescaped = (text: string): string =>
  text.replace(/_([0-9a-f]+)_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Length of a digest. It is long enough that two ids of one conversation do not collide. */
const DIGEST_CHARACTERS = 9;

/** Hashes with FNV-1a, twice with different start values. Returns letters and digits. */
function digest(text: string, length: number): string {
  const hash = (start: number): string => {
    let value = start;
    for (let index = 0; index < text.length; index++) {
      value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
    }
    return value.toString(36).padStart(7, "0");
  };
  return `${hash(0x811c9dc5)}${hash(0x9747b28c)}`.slice(-length).padStart(length, "0");
}
