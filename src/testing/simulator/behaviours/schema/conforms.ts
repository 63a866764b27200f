import { asList, isRecord, type JsonRecord } from "../../../../conversation/untrusted.ts";
import { numberIn, resolve, same } from "./schema.ts";

/** Room for the rounding of decimal fractions, relative to the quotient. */
const MULTIPLE_TOLERANCE = 1e-9;

/** A schema that is defined by nothing but itself is never done with; deeper values do not come up. */
const MAX_DEPTH = 100;
const MAX_CHECKS = 20_000;

interface Place {
  readonly root: unknown;
  readonly depth: number;
  /** Shared by all parts of one value. */
  readonly budget: { checks: number };
}

/** Whether a value is what the schema asks for, by the keywords that tool inputs use. */
export function conforms(value: unknown, schema: unknown, root: unknown = schema): boolean {
  return fits(value, schema, { root, depth: 0, budget: { checks: MAX_CHECKS } });
}

function fits(value: unknown, schema: unknown, { root, depth, budget }: Place): boolean {
  const found = resolve(schema, root);
  if (found === false) return false;
  if (!isRecord(found) || depth > MAX_DEPTH || --budget.checks < 0) return true;
  const place = { root, depth: depth + 1, budget };
  if ("const" in found && !same(value, found.const)) return false;
  if (Array.isArray(found.enum) && !found.enum.some((allowed) => same(value, allowed))) return false;
  return hasType(value, found.type) && fitsKind(value, found, place) && fitsCombinations(value, found, place);
}

function hasType(value: unknown, type: unknown): boolean {
  if (type === undefined) return true;
  return (Array.isArray(type) ? type : [type]).some((name) => isOfType(value, name));
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "object":
      return isRecord(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function fitsKind(value: unknown, schema: JsonRecord, place: Place): boolean {
  if (typeof value === "string") return fitsString(value, schema);
  if (typeof value === "number") return fitsNumber(value, schema);
  if (Array.isArray(value)) return fitsArray(value, schema, place);
  return !isRecord(value) || fitsObject(value, schema, place);
}

function fitsCombinations(value: unknown, schema: JsonRecord, place: Place): boolean {
  const takes = (part: unknown): boolean => fits(value, part, place);
  if (Array.isArray(schema.allOf) && !schema.allOf.every(takes)) return false;
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some(takes)) return false;
  if (Array.isArray(schema.oneOf) && schema.oneOf.filter(takes).length !== 1) return false;
  return schema.not === undefined || !takes(schema.not);
}

function fitsString(value: string, schema: JsonRecord): boolean {
  // By code points, as JSON Schema counts.
  const length = [...value].length;
  if (length < (numberIn(schema, "minLength") ?? 0)) return false;
  if (length > (numberIn(schema, "maxLength") ?? Number.POSITIVE_INFINITY)) return false;
  const pattern = typeof schema.pattern === "string" ? expression(schema.pattern) : undefined;
  return pattern === undefined || pattern.test(value);
}

/** A pattern in another dialect cannot be checked, and is no reason to call nothing at all. */
function expression(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // Tried again without the flag: many patterns escape more than it allows.
    }
  }
  return undefined;
}

function fitsNumber(value: number, schema: JsonRecord): boolean {
  if (value < (numberIn(schema, "minimum") ?? Number.NEGATIVE_INFINITY)) return false;
  if (value > (numberIn(schema, "maximum") ?? Number.POSITIVE_INFINITY)) return false;
  if (value <= (numberIn(schema, "exclusiveMinimum") ?? Number.NEGATIVE_INFINITY)) return false;
  if (value >= (numberIn(schema, "exclusiveMaximum") ?? Number.POSITIVE_INFINITY)) return false;
  const step = numberIn(schema, "multipleOf");
  if (step === undefined || step <= 0) return true;
  const quotient = value / step;
  return Math.abs(quotient - Math.round(quotient)) <= MULTIPLE_TOLERANCE * Math.max(1, Math.abs(quotient));
}

function fitsArray(value: readonly unknown[], schema: JsonRecord, place: Place): boolean {
  if (value.length < (numberIn(schema, "minItems") ?? 0)) return false;
  if (value.length > (numberIn(schema, "maxItems") ?? Number.POSITIVE_INFINITY)) return false;
  if (schema.uniqueItems === true && new Set(value.map((item) => JSON.stringify(item))).size < value.length)
    return false;
  const first = asList(schema.prefixItems);
  return value.every((item, index) => {
    const itemSchema = index < first.length ? first[index] : schema.items;
    return itemSchema === undefined || fits(item, itemSchema, place);
  });
}

function fitsObject(value: JsonRecord, schema: JsonRecord, place: Place): boolean {
  const names = Object.keys(value);
  if (asList(schema.required).some((name) => typeof name === "string" && !(name in value))) return false;
  if (names.length < (numberIn(schema, "minProperties") ?? 0)) return false;
  if (names.length > (numberIn(schema, "maxProperties") ?? Number.POSITIVE_INFINITY)) return false;
  const properties = isRecord(schema.properties) ? schema.properties : {};
  return names.every((name) => {
    if (Object.hasOwn(properties, name)) return fits(value[name], properties[name], place);
    return schema.additionalProperties === undefined
      ? true
      : fits(value[name], schema.additionalProperties, place);
  });
}
