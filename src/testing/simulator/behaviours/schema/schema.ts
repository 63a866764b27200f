import { asList, isRecord, type JsonRecord } from "../../../../conversation/untrusted.ts";

/** References can go in circles; no sensible schema chains more of them. */
const MAX_REFERENCES = 16;

/** The schema that is meant: references followed, what stands beside a reference kept. */
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

/** What is no escape sequence stands for itself. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const LARGER_WINS = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const SMALLER_WINS = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

/** A schema that asks for both. */
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

/** A schema that holds itself among its parts has no end of them. */
const MAX_FOLDED_PARTS = 200;

/** The schema with its `allOf` folded in. */
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

/** Types that the keywords imply where none is named. */
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
