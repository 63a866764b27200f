import type { Random } from "../demo/random.ts";

/** This file contains deterministic randomness: seeds from texts, random choices, and made-up names. */

/**
 * Maximum length of a text that is hashed completely. Of a longer text, only the beginning and the end are
 * hashed, so that hashing stays cheap.
 */
const MAX_HASHED_CHARS = 8_000;

/**
 * Hashes a text to 32 bits (FNV-1a with a final mix). The result is the same on every machine, cheap, and
 * well distributed.
 */
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

/** Returns true with this probability in percent. */
export const chance = (random: Random, percent: number): boolean => random.between(1, 100) <= percent;

/** Returns a random item of the list, or undefined if the list is empty. */
export const pickFrom = <T>(choices: readonly T[], random: Random): T | undefined =>
  choices[random.between(0, Math.max(0, choices.length - 1))];

function wordOf(list: string): (random: Random) => string {
  const words = list.split(/\s+/);
  return (random) => pickFrom(words, random) ?? "";
}

export const area: (random: Random) => string = wordOf(
  `billing catalog checkout exports filters imports inventory
   ledger mailer orders reports sessions shipping webhooks`,
);
export const thing: (random: Random) => string = wordOf(
  `address batch bucket cursor discount envelope invoice journal lease manifest
   partition payload quota receipt schedule snapshot ticket token voucher window`,
);
const verb = wordOf(
  `apply build check collect drain expire fold group index load
   merge parse renew resolve settle sort split trace unpack verify`,
);
export const quality: (random: Random) => string = wordOf(
  "empty expired foreign late missing nested open partial repeated stale unsorted zero",
);

export const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Makes up a name such as `resolveStaleCursor`. */
export function functionName(random: Random): string {
  return `${verb(random)}${capitalized(quality(random))}${capitalized(thing(random))}`;
}

/** Makes up three to six words that read like a note. */
export function phrase(random: Random): string {
  const start = `${verb(random)} the ${quality(random)} ${thing(random)}`;
  return random.between(0, 1) === 0 ? start : `${start} of ${area(random)}`;
}
