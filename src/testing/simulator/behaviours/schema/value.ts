import { asList, isRecord, type JsonRecord } from "../../../../conversation/untrusted.ts";
import type { Random } from "../../../../demo/random.ts";
import { chance } from "../chance.ts";
import { conforms } from "./conforms.ts";
import { numberFor } from "./numbers.ts";
import { merge, numberIn, resolve, same, typesOf, withoutAllOf } from "./schema.ts";
import { stringFor } from "./strings.ts";

/** Beyond this depth only what is required is made, so that a schema that holds itself comes to an end. */
const DEPTH_OF_EXTRAS = 4;
/** A schema that requires itself has no finite value. */
const MAX_DEPTH = 24;
const OPTIONAL_PERCENT = 30;
const EXAMPLE_PERCENT = 25;
const USUAL_EXTRA_ITEMS = 2;
/** Alternatives inside alternatives multiply; what is left when this runs out becomes null, or is left out. */
const MAX_PARTS = 4_000;
/** `oneOf` and `uniqueItems` are met by trying again. */
const TRIES = 24;

/** Values that would suit a property of this name, best first; those that do not conform are passed over. */
export type Suggest = (name: string, schema: JsonRecord) => readonly unknown[];

export interface ValueOptions {
  readonly random: Random;
  readonly suggest?: Suggest;
  /** Now and then also makes properties that are neither required nor suggested; true unless given. */
  readonly hasExtras?: boolean;
}

interface Place extends Required<ValueOptions> {
  readonly root: unknown;
  readonly name: string;
  readonly depth: number;
  /** Shared by all parts of one value. */
  readonly budget: { parts: number };
}

/** A value that the schema allows, as far as one can be found without solving it. */
export function valueFor(schema: unknown, options: ValueOptions): unknown {
  const { random, suggest = () => [], hasExtras = true } = options;
  const budget = { parts: MAX_PARTS };
  return make(schema, { random, suggest, hasExtras, root: schema, name: "", depth: 0, budget });
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
  const examples = [schema.default, ...asList(schema.examples)].filter((value) => value !== undefined);
  const example = examples.find((value) => conforms(value, schema, place.root));
  if (example !== undefined && chance(place.random, EXAMPLE_PERCENT)) return example;
  return Array.isArray(schema.anyOf) || Array.isArray(schema.oneOf)
    ? makeAlternative(schema, place)
    : makeOfType(schema, place);
}

function makeEnum(schema: JsonRecord, values: readonly unknown[], place: Place): unknown {
  const allowed = values.filter((value) => conforms(value, schema, place.root));
  return allowed[place.random.between(0, Math.max(0, allowed.length - 1))];
}

function makeAlternative(schema: JsonRecord, place: Place): unknown {
  const { anyOf, oneOf, ...base } = schema;
  const choices = Array.isArray(anyOf) ? anyOf : asList(oneOf);
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

/** What cannot hold itself comes first. */
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
  switch (preferred[place.random.between(0, Math.max(0, preferred.length - 1))] ?? types[0]) {
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
    // A plain assignment to `__proto__` would set no property.
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

/** Switches that nobody asked for stay as they are: many of them are about what must not be done lightly. */
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
