import type { JsonRecord } from "../../../../conversation/untrusted.ts";
import type { Random } from "../../../../demo/random.ts";
import { area, phrase, thing } from "../chance.ts";
import { conforms } from "./conforms.ts";
import { textMatching } from "./pattern.ts";
import { numberIn } from "./schema.ts";

const USUAL_EXTRA_REPEATS = 6;
/** Lengths are met by trying: with a bound on repeats that suits, few tries are needed. */
const TRIES_PER_BOUND = 12;
/** More than a reply can hold; a schema that wants more gets this much. */
const MAX_CHARACTERS = 1_000_000;

export function stringFor(schema: JsonRecord, random: Random): string {
  const matching =
    typeof schema.pattern === "string" ? patternText(schema, schema.pattern, random) : undefined;
  return matching ?? formatText(schema, random) ?? plainText(schema, random);
}

function patternText(schema: JsonRecord, pattern: string, random: Random): string | undefined {
  const shortest = numberIn(schema, "minLength") ?? 0;
  const longest = numberIn(schema, "maxLength") ?? 0;
  let closest: string | undefined;
  for (const extraRepeats of [USUAL_EXTRA_REPEATS, 2 * shortest, Math.ceil((shortest + longest) / 2), 0]) {
    for (let attempt = 0; attempt < TRIES_PER_BOUND; attempt++) {
      const text = textMatching(pattern, random, extraRepeats);
      if (text === undefined) return closest;
      if (conforms(text, schema)) return text;
      closest ??= text;
    }
  }
  return closest;
}

const FORMATS: Readonly<Record<string, (random: Random) => string>> = {
  date: (random) => `2026-${twoDigits(random, 1, 12)}-${twoDigits(random, 1, 28)}`,
  time: (random) => `${twoDigits(random, 0, 23)}:${twoDigits(random, 0, 59)}:${twoDigits(random, 0, 59)}Z`,
  "date-time": (random) => `${FORMATS.date?.(random)}T${FORMATS.time?.(random)}`,
  duration: (random) => `PT${random.between(1, 59)}M`,
  email: (random) => `${thing(random)}@example.com`,
  hostname: (random) => `${thing(random)}.example.com`,
  ipv4: (random) => `192.0.2.${random.between(1, 254)}`,
  ipv6: (random) => `2001:db8::${random.hex(4)}`,
  uri: (random) => exampleUrl(random),
  url: (random) => exampleUrl(random),
  uuid: (random) => random.uuid(),
};

/** A host that is reserved for examples: a real agent may carry the call out. */
export function exampleUrl(random: Random): string {
  return `https://docs.example.com/${area(random)}/${thing(random)}-${random.between(1, 999)}`;
}

function formatText(schema: JsonRecord, random: Random): string | undefined {
  if (typeof schema.format !== "string" || !Object.hasOwn(FORMATS, schema.format)) return undefined;
  const text = FORMATS[schema.format]?.(random);
  return text !== undefined && conforms(text, schema) ? text : undefined;
}

function plainText(schema: JsonRecord, random: Random): string {
  const shortest = Math.min(MAX_CHARACTERS, numberIn(schema, "minLength") ?? 0);
  const longest = numberIn(schema, "maxLength") ?? Number.POSITIVE_INFINITY;
  let text = phrase(random);
  while (text.length < shortest) text += `, ${phrase(random)}`;
  if (text.length <= longest) return text;
  return text.slice(0, Math.max(shortest, longest));
}

function twoDigits(random: Random, low: number, high: number): string {
  return String(random.between(low, high)).padStart(2, "0");
}
