import { asList, isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { Random } from "../../demo/random.ts";
import { area, chance, phrase, pickFrom, thing } from "../chance.ts";
import { textMatching } from "./pattern.ts";
import { conforms, merge, numberIn, resolve, same, typesOf, withoutAllOf } from "./schema.ts";

/**
 * Depth at which the generator stops adding optional parts, so that the value of a recursive schema is
 * finite.
 */
const DEPTH_OF_EXTRAS = 4;
/** Maximum depth of a value. A schema that requires itself has no finite value. */
const MAX_DEPTH = 24;
const OPTIONAL_PERCENT = 30;
const EXAMPLE_PERCENT = 25;
const USUAL_EXTRA_ITEMS = 2;
/**
 * Maximum number of generated parts. The limit is necessary because nested alternatives multiply. Further
 * parts become null or are omitted.
 */
const MAX_PARTS = 4_000;
/** Maximum attempts to satisfy `oneOf` and `uniqueItems`. */
const TRIES = 24;

/** Suggests values for a property name, best first. Invalid suggestions are skipped. */
export type Suggest = (name: string, schema: JsonRecord) => readonly unknown[];

interface ValueOptions {
  readonly random: Random;
  readonly suggest?: Suggest;
  /** Sometimes generates properties that are neither required nor suggested. Default: true. */
  readonly hasExtras?: boolean;
  /** Chooses false for switches, and avoids alternatives whose names sound risky. Default: false. */
  readonly isCautious?: boolean;
}

interface Place extends Required<ValueOptions> {
  readonly root: unknown;
  readonly name: string;
  readonly depth: number;
  /** Remaining parts that may be generated, shared by the whole value. */
  readonly budget: { parts: number };
}

/**
 * Generates a value that the schema allows. For contradictory or complicated schemas, the value may not
 * match.
 */
export function valueFor(schema: unknown, options: ValueOptions): unknown {
  const { random, suggest = () => [], hasExtras = true, isCautious = false } = options;
  const budget = { parts: MAX_PARTS };
  return make(schema, { random, suggest, hasExtras, isCautious, root: schema, name: "", depth: 0, budget });
}

/** Matches names of operations that destroy something or that nobody expects. */
const RISKY =
  /(?:^|[^a-z])(?:delete|remove|rm|rmdir|unlink|del|drop|destroy|truncate|wipe|erase|purge|uninstall|kill|terminate|shutdown|reset|revoke|format|overwrite|replace|move|rename|mv|sudo|force)(?:$|[^a-z])/i;

/** True for a name such as `delete_file` or `forceReset`. */
export const isRisky = (name: string): boolean => RISKY.test(name.replace(/([a-z])([A-Z])/g, "$1_$2"));

function isRiskyChoice(choice: unknown): boolean {
  if (typeof choice === "string") return isRisky(choice);
  if (!isRecord(choice)) return false;
  return [choice.const, ...asList(choice.enum)].some((value) => typeof value === "string" && isRisky(value));
}

/** Returns the choices that a careful agent would take. Returns all choices if none of them is left. */
function careful(choices: readonly unknown[], { isCautious }: Place): readonly unknown[] {
  const harmless = isCautious ? choices.filter((choice) => !isRiskyChoice(choice)) : choices;
  return harmless.length > 0 ? harmless : choices;
}

function make(given: unknown, place: Place): unknown {
  const found = resolve(given, place.root);
  if (--place.budget.parts < 0) return null;
  if (!isRecord(found)) return found === false ? null : stringFor({}, place.random);
  if (place.depth > MAX_DEPTH) return null;
  const schema = withoutAllOf(found, place.root);
  const suggested = place
    .suggest(place.name, schema)
    .find((value) => conforms(value, schema, place.root) && value !== undefined);
  if (suggested !== undefined) return suggested;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return makeEnum(schema, schema.enum, place);
  if (place.isCautious && same(schema.type, "boolean")) return false;
  const examples = [schema.default, ...asList(schema.examples)].filter((value) => value !== undefined);
  const example = examples.find((value) => conforms(value, schema, place.root));
  if (example !== undefined && chance(place.random, EXAMPLE_PERCENT)) return example;
  return Array.isArray(schema.anyOf) || Array.isArray(schema.oneOf)
    ? makeAlternative(schema, place)
    : makeOfType(schema, place);
}

function makeEnum(schema: JsonRecord, values: readonly unknown[], place: Place): unknown {
  const allowed = values.filter((value) => conforms(value, schema, place.root));
  return pickFrom(careful(allowed, place), place.random);
}

function makeAlternative(schema: JsonRecord, place: Place): unknown {
  const { anyOf, oneOf, ...base } = schema;
  const choices = careful(Array.isArray(anyOf) ? anyOf : asList(oneOf), place);
  const others = Array.isArray(anyOf) && Array.isArray(oneOf) ? { oneOf } : {};
  const ordered = place.depth >= DEPTH_OF_EXTRAS ? simplestFirst(choices, place.root) : choices;
  const start = place.depth >= DEPTH_OF_EXTRAS ? 0 : place.random.between(0, Math.max(0, choices.length - 1));
  let closest: unknown;
  for (let attempt = 0; attempt < Math.max(TRIES, choices.length); attempt++) {
    const choice = resolve(ordered[(start + attempt) % Math.max(1, ordered.length)], place.root);
    if (choice === false) continue;
    const both = isRecord(choice) ? merge({ ...base, ...others }, choice) : { ...base, ...others };
    const value = make(both, { ...place, depth: place.depth + 1 });
    if (conforms(value, schema, place.root)) return value;
    closest ??= value;
  }
  return closest ?? null;
}

/**
 * Sorts alternatives of a schema. Objects and arrays come last, because only schemas of objects and arrays
 * can be recursive.
 */
function simplestFirst(choices: readonly unknown[], root: unknown): readonly unknown[] {
  const size = (choice: unknown): number => {
    const found = resolve(choice, root);
    if (!isRecord(found)) return 0;
    if ("const" in found || "enum" in found) return 0;
    return typesOf(found).some((type) => type === "object" || type === "array") ? 2 : 1;
  };
  return choices.toSorted((a, b) => size(a) - size(b));
}

function makeOfType(schema: JsonRecord, place: Place): unknown {
  const types = typesOf(schema);
  const preferred = types.filter((type) => type !== "null");
  switch (pickFrom(preferred, place.random) ?? types[0]) {
    case "object":
      return makeObject(schema, place);
    case "array":
      return makeArray(schema, place);
    case "integer":
      return numberFor(schema, place.random, true);
    case "number":
      return numberFor(schema, place.random, false);
    case "boolean":
      return chance(place.random, 50);
    case "null":
      return null;
    default:
      return stringFor(schema, place.random);
  }
}

function makeObject(schema: JsonRecord, place: Place): JsonRecord {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = asList(schema.required).filter((name) => typeof name === "string");
  const made: Record<string, unknown> = {};
  const put = (name: string, itemSchema: unknown): void => {
    const value = make(itemSchema, { ...place, name, depth: place.depth + 1 });
    // Defines the property explicitly, because an assignment to `__proto__` would not create a property.
    Object.defineProperty(made, name, { value, enumerable: true, writable: true, configurable: true });
  };
  const most = numberIn(schema, "maxProperties") ?? Number.POSITIVE_INFINITY;
  for (const name of required)
    put(name, Object.hasOwn(properties, name) ? properties[name] : extraSchema(schema));
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const fewest = numberIn(schema, "minProperties") ?? 0;
  for (const [index, name] of optional.entries()) {
    const count = Object.keys(made).length;
    if (count >= most) break;
    const isNeeded = count + (optional.length - index) <= fewest;
    if (isNeeded || wants(name, properties[name], place)) put(name, properties[name]);
  }
  for (let extra = 1; Object.keys(made).length < fewest && place.budget.parts > 0; extra++) {
    if (!Object.hasOwn(made, `field_${extra}`)) put(`field_${extra}`, extraSchema(schema));
  }
  return made;
}

const extraSchema = (schema: JsonRecord): unknown =>
  isRecord(schema.additionalProperties) ? schema.additionalProperties : true;

/**
 * Decides whether to generate an optional property. Omits switches (booleans) that are not suggested, because
 * many of them enable something risky.
 */
function wants(name: string, given: unknown, place: Place): boolean {
  if (place.depth >= DEPTH_OF_EXTRAS) return false;
  const schema = resolve(given, place.root);
  const isSuggested = isRecord(schema) && place.suggest(name, schema).length > 0;
  if (schema === false || (isRecord(schema) && same(schema.type, "boolean"))) return isSuggested;
  if (!isSuggested && !place.hasExtras) return false;
  return chance(place.random, isSuggested ? 2 * OPTIONAL_PERCENT : OPTIONAL_PERCENT);
}

function makeArray(schema: JsonRecord, place: Place): readonly unknown[] {
  const first = asList(schema.prefixItems);
  const fewest = Math.max(numberIn(schema, "minItems") ?? 0, first.length);
  const extra = place.depth >= DEPTH_OF_EXTRAS ? 0 : place.random.between(1, USUAL_EXTRA_ITEMS);
  const wanted = Math.min(
    schema.items === false ? first.length : fewest === 0 ? extra : fewest + extra - 1,
    numberIn(schema, "maxItems") ?? Number.POSITIVE_INFINITY,
  );
  const items: unknown[] = [];
  const known = new Set<string | undefined>();
  for (let tries = wanted * TRIES; items.length < wanted && tries > 0 && place.budget.parts > 0; tries--) {
    const itemSchema = items.length < first.length ? first[items.length] : (schema.items ?? true);
    const value = make(itemSchema, { ...place, depth: place.depth + 1 });
    const key = schema.uniqueItems === true ? JSON.stringify(value) : undefined;
    if (key !== undefined && known.has(key)) continue;
    known.add(key);
    items.push(value);
  }
  return items;
}

// Numbers

/**
 * Width of a range with only one limit or none. It is small, because tool inputs mostly contain small
 * numbers.
 */
const USUAL_SPAN = 100;
/**
 * Digits to which numbers are rounded. They are enough for any sensible `multipleOf`, and few enough to
 * remove rounding errors.
 */
const SIGNIFICANT_DIGITS = 12;

function numberFor(schema: JsonRecord, random: Random, isWhole: boolean): number {
  const step = numberIn(schema, "multipleOf") ?? 0;
  const unit = step > 0 ? step : 1;
  const [low, high] = bounds(schema, unit);
  const isOutside = (value: number): boolean =>
    numberIn(schema, "exclusiveMinimum") === value || numberIn(schema, "exclusiveMaximum") === value;
  let first = Math.ceil(low / unit);
  let last = Math.floor(high / unit);
  if (isOutside(first * unit)) first++;
  if (isOutside(last * unit)) last--;
  if (first > last) return isWhole ? Math.ceil(low) : (low + high) / 2;
  const value = random.between(first, last) * unit;
  return Number.isInteger(unit) ? value : Number(value.toPrecision(SIGNIFICANT_DIGITS));
}

function bounds(schema: JsonRecord, unit: number): readonly [low: number, high: number] {
  const lowest = Math.max(
    numberIn(schema, "minimum") ?? Number.NEGATIVE_INFINITY,
    numberIn(schema, "exclusiveMinimum") ?? Number.NEGATIVE_INFINITY,
  );
  const highest = Math.min(
    numberIn(schema, "maximum") ?? Number.POSITIVE_INFINITY,
    numberIn(schema, "exclusiveMaximum") ?? Number.POSITIVE_INFINITY,
  );
  const span = USUAL_SPAN * Math.max(1, unit);
  if (Number.isFinite(lowest)) return [lowest, Math.min(highest, lowest + span)];
  if (Number.isFinite(highest)) return [highest - span, highest];
  return [0, span];
}

// Strings

const USUAL_EXTRA_REPEATS = 6;
/**
 * Number of attempts to match a pattern, for each maximum of extra repetitions. If the maximum is suitable,
 * few attempts are needed.
 */
const TRIES_PER_BOUND = 12;
/**
 * Maximum characters of a generated string. A reply cannot contain this many. If a schema requires a longer
 * string, the string has this length.
 */
const MAX_CHARACTERS = 1_000_000;

function stringFor(schema: JsonRecord, random: Random): string {
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

/** Makes up a URL. Its host is reserved for examples, because a real agent may run the call. */
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
