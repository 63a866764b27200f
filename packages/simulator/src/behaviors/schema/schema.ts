import { runInNewContext } from "node:vm";
import { asList, isRecord, type JsonRecord } from "@longhaul/core/internal/messages";

/**
 * Semantics of a JSON schema for tool inputs: references, merged parts, and validation of a value.
 *
 * We tried `z.fromJSONSchema` (zod 4.6.7) for the validation. Schemas come from any client and must never
 * stop the coder, and a part of a schema is validated for each property.
 * - `z.fromJSONSchema` throws at `not`, `if`, `#/definitions/…`, `#/properties/…`, a reference that leads
 *   nowhere or out of the schema, and a pattern in another dialect. It overflows the stack at circular
 *   references. Then nothing is validated.
 * - It rejects objects that equal `const` or one of `enum`, and ignores keywords without a `type`.
 * - A schema of 200 properties takes 11 ms per validation, because it is converted completely each time.
 */

/**
 * Maximum length of a chain of references. References can be circular, and no sensible schema has a longer
 * chain.
 */
const MAX_REFERENCES = 16;

/** Replaces a reference with the schema that it names, and keeps the keywords next to the reference. */
export function resolve(schema: unknown, root: unknown): unknown {
  let found = schema;
  for (let hops = 0; hops < MAX_REFERENCES && isRecord(found) && typeof found.$ref === "string"; hops++) {
    const { $ref, ...beside } = found;
    const target = follow(found.$ref, root);
    found = isRecord(target) ? merge(target, beside) : target;
  }
  return found;
}

function follow(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return true;
  let found: unknown = root;
  for (const part of reference.slice(1).split("/").filter(Boolean)) {
    const name = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(found)) found = found[Number(name)];
    else found = isRecord(found) ? found[name] : undefined;
  }
  return found ?? true;
}

/** Decodes a part of a reference. Keeps an invalid escape sequence as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const LARGER_WINS = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const SMALLER_WINS = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

/** Combines two schemas into one that requires both. */
export function merge(a: JsonRecord, b: JsonRecord): JsonRecord {
  const merged: Record<string, unknown> = { ...a, ...b };
  for (const name of Object.keys(a)) {
    if (name in b) merged[name] = mergeKeyword(name, a[name], b[name]);
  }
  return merged;
}

function mergeKeyword(name: string, a: unknown, b: unknown): unknown {
  if (typeof a === "number" && typeof b === "number") {
    if (LARGER_WINS.includes(name)) return Math.max(a, b);
    if (SMALLER_WINS.includes(name)) return Math.min(a, b);
  }
  if (name === "required") return [...new Set([...asList(a), ...asList(b)])];
  if (name === "enum") return asList(b).filter((value) => asList(a).some((other) => same(value, other)));
  if (name === "type") return narrowerType(a, b);
  if (name === "allOf") return [...asList(a), ...asList(b)];
  if (name === "properties" && isRecord(a) && isRecord(b)) return mergeProperties(a, b);
  if (name === "items" && isRecord(a) && isRecord(b)) return merge(a, b);
  return b;
}

function mergeProperties(a: JsonRecord, b: JsonRecord): JsonRecord {
  const merged: Record<string, unknown> = { ...a, ...b };
  for (const [name, left] of Object.entries(a)) {
    const right = b[name];
    if (isRecord(left) && isRecord(right)) merged[name] = merge(left, right);
  }
  return merged;
}

function narrowerType(a: unknown, b: unknown): unknown {
  const left = Array.isArray(a) ? a : [a];
  const right = Array.isArray(b) ? b : [b];
  const both = right.filter((type) => left.includes(type) || (type === "integer" && left.includes("number")));
  if (both.length === 0) return left.includes("integer") && right.includes("number") ? "integer" : b;
  return both.length === 1 ? both[0] : both;
}

/** Maximum number of merged parts. Without this limit, merging a recursive schema would never end. */
const MAX_FOLDED_PARTS = 200;

/** Merges the parts of `allOf` into the schema. */
export function withoutAllOf(
  schema: JsonRecord,
  root: unknown,
  budget: { parts: number } = { parts: MAX_FOLDED_PARTS },
): JsonRecord {
  if (!Array.isArray(schema.allOf)) return schema;
  const { allOf, ...rest } = schema;
  let merged: JsonRecord = rest;
  for (const part of schema.allOf) {
    if (--budget.parts < 0) break;
    const found = resolve(part, root);
    if (isRecord(found)) merged = merge(withoutAllOf(found, root, budget), merged);
  }
  return merged;
}

export function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** Returns the types of a schema. If the schema has no field `type`, its keywords imply the types. */
export function typesOf(schema: JsonRecord): readonly string[] {
  if (typeof schema.type === "string") return [schema.type];
  if (Array.isArray(schema.type)) return schema.type.filter((type) => typeof type === "string");
  const has = (...names: readonly string[]): boolean => names.some((name) => name in schema);
  if (has("properties", "required", "additionalProperties", "minProperties")) return ["object"];
  if (has("items", "prefixItems", "minItems", "uniqueItems")) return ["array"];
  if (has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")) return ["number"];
  return ["string"];
}

export function numberIn(schema: JsonRecord, name: string): number | undefined {
  const value = schema[name];
  return typeof value === "number" ? value : undefined;
}

// Validation

/** Tolerance for rounding of decimal fractions, relative to the quotient. */
const MULTIPLE_TOLERANCE = 1e-9;

/**
 * Maximum depth of validation. Without this limit, the validation of a schema that only refers to itself
 * would never end. Real values are not that deep.
 */
const MAX_CHECKED_DEPTH = 100;
const MAX_CHECKS = 20_000;

interface Place {
  readonly root: unknown;
  readonly depth: number;
  /** Remaining checks, shared by all parts of one value. */
  readonly budget: { checks: number };
}

/** Validates a value against a schema, by the keywords that tool inputs use. */
export function conforms(value: unknown, schema: unknown, root: unknown = schema): boolean {
  return fits(value, schema, { root, depth: 0, budget: { checks: MAX_CHECKS } });
}

function fits(value: unknown, schema: unknown, { root, depth, budget }: Place): boolean {
  const found = resolve(schema, root);
  if (found === false) return false;
  if (!isRecord(found) || depth > MAX_CHECKED_DEPTH || --budget.checks < 0) return true;
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

const isWithin = (size: number, schema: JsonRecord, low: string, high: string): boolean =>
  size >= (numberIn(schema, low) ?? Number.NEGATIVE_INFINITY) &&
  size <= (numberIn(schema, high) ?? Number.POSITIVE_INFINITY);

function fitsString(value: string, schema: JsonRecord): boolean {
  // Counts code points, like JSON Schema.
  const length = [...value].length;
  if (!isWithin(length, schema, "minLength", "maxLength")) return false;
  const pattern = typeof schema.pattern === "string" ? expression(schema.pattern) : undefined;
  return pattern === undefined || matches(pattern, value);
}

/** Maximum time for one pattern. Sensible patterns take far less than a millisecond. */
const MAX_MATCH_MS = 20;

/**
 * Tests a value. A repeated group can take years, so such a pattern runs with a time limit. A value that needs
 * longer does not match.
 */
function matches(pattern: RegExp, value: string): boolean {
  if (!/\)[*+{]/.test(pattern.source)) return pattern.test(value);
  try {
    return runInNewContext("pattern.test(value)", { pattern, value }, { timeout: MAX_MATCH_MS }) === true;
  } catch {
    return false;
  }
}

/**
 * Compiles a pattern. Returns undefined for a pattern of another dialect. Such a pattern cannot be checked,
 * so every value passes.
 */
function expression(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // Compile again without the `u` flag, because many patterns contain escapes that this flag does not
      // allow.
    }
  }
  return undefined;
}

function fitsNumber(value: number, schema: JsonRecord): boolean {
  if (!isWithin(value, schema, "minimum", "maximum")) return false;
  if (!isWithin(value, schema, "exclusiveMinimum", "exclusiveMaximum")) return false;
  if (value === schema.exclusiveMinimum || value === schema.exclusiveMaximum) return false;
  const step = numberIn(schema, "multipleOf");
  if (step === undefined || step <= 0) return true;
  const quotient = value / step;
  return Math.abs(quotient - Math.round(quotient)) <= MULTIPLE_TOLERANCE * Math.max(1, Math.abs(quotient));
}

function fitsArray(value: readonly unknown[], schema: JsonRecord, place: Place): boolean {
  if (!isWithin(value.length, schema, "minItems", "maxItems")) return false;
  if (schema.uniqueItems === true && new Set(value.map((item) => JSON.stringify(item))).size < value.length)
    return false;
  const first = asList(schema.prefixItems);
  return value.every((item, index) => fits(item, index < first.length ? first[index] : schema.items, place));
}

function fitsObject(value: JsonRecord, schema: JsonRecord, place: Place): boolean {
  const names = Object.keys(value);
  if (asList(schema.required).some((name) => typeof name === "string" && !Object.hasOwn(value, name)))
    return false;
  if (!isWithin(names.length, schema, "minProperties", "maxProperties")) return false;
  const properties = isRecord(schema.properties) ? schema.properties : {};
  return names.every((name) => {
    const part = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
    return fits(value[name], part, place);
  });
}
