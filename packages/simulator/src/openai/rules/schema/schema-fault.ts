import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { SchemaFaultName } from "../../wording/schema-texts.ts";
import { shortened } from "../shape/inspection.ts";

/** Limits of strict schemas in the structured outputs guide. */
const MAX_LEVELS = 10;
const MAX_PROPERTIES = 5_000;
const MAX_ENUM_VALUES = 1_000;
/** An enum with more values than this may have at most `MAX_LARGE_ENUM_CHARACTERS`. */
const LARGE_ENUM_VALUES = 250;
const MAX_LARGE_ENUM_CHARACTERS = 15_000;
/** Maximum characters of all names of properties and definitions, enum values and const values. */
const MAX_NAME_CHARACTERS = 120_000;

/** Maximum siblings of a reference that an error text names. */
const MAX_SHOWN_SIBLINGS = 10;

/** A fault as data, so that the caller can name the function or the format at fault. */
export interface SchemaFault {
  readonly name: SchemaFaultName;
  readonly values: Readonly<Record<string, string | number>>;
}

interface SchemaUse {
  /** Strict schemas support only a subset of JSON Schema. */
  readonly isStrict: boolean;
  readonly isFunction: boolean;
}

/**
 * Finds the first fault of a JSON Schema. Visits each subschema once and without recursion, so that a hostile
 * schema can neither overflow the stack nor take long.
 */
export function findSchemaFault(schema: unknown, use: SchemaUse): SchemaFault | undefined {
  const atRoot = findRootFault(schema, use);
  if (atRoot !== undefined) return atRoot;
  const sizes: Sizes = { levels: 0, properties: 0, enumValues: 0, nameCharacters: 0 };
  const open: Place[] = [{ schema, step: undefined, level: 0 }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const fault = findFaultAt(place, use, schema);
    if (fault !== undefined) return fault;
    if (!isRecord(place.schema)) continue;
    const level = place.level + (isNested(place.schema) ? 1 : 0);
    addSizes(place.schema, level, sizes);
    // Pushed one by one: a hostile list is longer than the longest list of arguments.
    const found = subschemas(place.schema, { ...place, level });
    for (let index = found.length - 1; index >= 0; index--) open.push(found[index] as Place);
  }
  return use.isStrict ? findOversize(sizes) : undefined;
}

/** A subschema with its position. The steps form a linked list, so that each position costs the same. */
interface Place {
  readonly schema: unknown;
  readonly step: Step | undefined;
  /** Number of objects and arrays around the subschema. */
  readonly level: number;
}

interface Step {
  readonly name: string;
  readonly before: Step | undefined;
}

const fault = (name: SchemaFaultName, values: SchemaFault["values"] = {}): SchemaFault => ({ name, values });

/** Writes a position as a Python tuple. */
function contextOf(place: Place): string {
  const names: string[] = [];
  for (let step = place.step; step !== undefined; step = step.before) names.push(`'${shortened(step.name)}'`);
  const listed = names.reverse().join(", ");
  return names.length === 1 ? `(${listed},)` : `(${listed})`;
}

// The root

const ROOT_UNIONS = ["oneOf", "anyOf", "allOf", "enum", "not"];

function findRootFault(schema: unknown, { isStrict, isFunction }: SchemaUse): SchemaFault | undefined {
  if (!isRecord(schema)) return fault("notSchema", { context: "()" });
  if (!isFunction && !isStrict) return undefined;
  if (schema.type !== "object") return fault("rootType", { type: typeName(schema.type) });
  if (ROOT_UNIONS.some((keyword) => schema[keyword] !== undefined)) return fault("rootUnion");
  if (isFunction && !isRecord(schema.properties)) return fault("rootProperties");
  return undefined;
}

function typeName(type: unknown): string {
  if (type === undefined || type === null) return "None";
  return shortened(typeof type === "string" ? type : JSON.stringify(type));
}

// One subschema

const TYPES: ReadonlySet<unknown> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
]);

const hasType = (schema: JsonRecord, type: string): boolean =>
  schema.type === type || (Array.isArray(schema.type) && schema.type.includes(type));

const isNested = (schema: JsonRecord): boolean => hasType(schema, "object") || hasType(schema, "array");

function findFaultAt(place: Place, { isStrict }: SchemaUse, root: unknown): SchemaFault | undefined {
  const { schema } = place;
  if (typeof schema === "boolean" && !isStrict) return undefined;
  if (!isRecord(schema)) return fault("notSchema", { context: contextOf(place) });
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const wrong = types.find((type) => type !== undefined && !TYPES.has(type));
  if (wrong !== undefined) return fault("typeUnknown", { type: typeName(wrong) });
  const strictFault = isStrict ? findStrictFault(schema, place, root) : undefined;
  if (strictFault !== undefined) return strictFault;
  if (hasType(schema, "array") && schema.items === undefined && schema.prefixItems === undefined) {
    return fault("itemsMissing", { context: contextOf(place) });
  }
  return undefined;
}

/**
 * Keywords that a strict schema may not have. The official SDK lists them as unsupported, except `oneOf`,
 * which it rewrites to `anyOf`. Keywords that it does not list are accepted, also `default`: the sources
 * conflict.
 */
const FORBIDDEN: readonly string[] = [
  "oneOf",
  "$anchor",
  "$dynamicAnchor",
  "$dynamicRef",
  "$recursiveAnchor",
  "$recursiveRef",
  "allOf",
  "contains",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "else",
  "if",
  "maxContains",
  "maxProperties",
  "minContains",
  "minProperties",
  "not",
  "patternProperties",
  "prefixItems",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
  "uniqueItems",
];

/** Formats of texts that a strict schema may name: structured outputs guide. */
const FORMATS: ReadonlySet<unknown> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
]);

function findStrictFault(schema: JsonRecord, place: Place, root: unknown): SchemaFault | undefined {
  if (schema.$ref !== undefined) return findRefFault(schema, place, root);
  const keyword = FORBIDDEN.find((name) => schema[name] !== undefined);
  if (keyword !== undefined) return fault("keywordForbidden", { context: contextOf(place), keyword });
  if (schema.type === undefined && schema.anyOf === undefined) {
    return fault("typeMissing", { context: contextOf(place) });
  }
  if (hasType(schema, "string") && typeof schema.format === "string" && !FORMATS.has(schema.format)) {
    return fault("formatUnknown", { context: contextOf(place), format: shortened(schema.format) });
  }
  return hasType(schema, "object") ? findObjectFault(schema, place) : findEnumFault(schema, place);
}

function findRefFault(schema: JsonRecord, place: Place, root: unknown): SchemaFault | undefined {
  const siblings = Object.keys(schema).filter((name) => name !== "$ref");
  if (siblings.length > 0) {
    const keywords = `{${siblings
      .slice(0, MAX_SHOWN_SIBLINGS)
      .map((name) => `'${shortened(name)}'`)
      .join(", ")}}`;
    return fault("refSiblings", { context: contextOf(place), keywords });
  }
  if (typeof schema.$ref === "string" && resolves(schema.$ref, root)) return undefined;
  return fault("refUnresolved", { context: contextOf(place), ref: typeName(schema.$ref) });
}

function resolves(ref: string, root: unknown): boolean {
  if (ref === "#") return true;
  if (!ref.startsWith("#/")) return false;
  let found: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return false;
    found = (found as JsonRecord)[name];
  }
  return isRecord(found);
}

function findObjectFault(schema: JsonRecord, place: Place): SchemaFault | undefined {
  if (schema.additionalProperties !== false) {
    return fault("additionalProperties", { context: contextOf(place) });
  }
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = new Set<unknown>(Array.isArray(schema.required) ? schema.required : []);
  for (const key in properties) {
    if (!required.delete(key)) {
      return fault("requiredMissing", { context: contextOf(place), key: shortened(key) });
    }
  }
  const [extra] = required;
  if (extra === undefined) return undefined;
  return fault("requiredExtra", { context: contextOf(place), key: typeName(extra) });
}

function findEnumFault(schema: JsonRecord, place: Place): SchemaFault | undefined {
  if (!Array.isArray(schema.enum) || schema.enum.length <= LARGE_ENUM_VALUES) return undefined;
  const count = charactersOf(schema.enum);
  if (count <= MAX_LARGE_ENUM_CHARACTERS) return undefined;
  return fault("enumTooLong", { context: contextOf(place), count, limit: MAX_LARGE_ENUM_CHARACTERS });
}

// Subschemas

const SCHEMA_KEYWORDS = ["items", "additionalProperties", "not"];
const LIST_KEYWORDS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const MAP_KEYWORDS = ["properties", "$defs", "definitions", "patternProperties"];

function subschemas(schema: JsonRecord, { step: before, level }: Place): Place[] {
  const found: Place[] = [];
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    const step = { name: keyword, before };
    if (SCHEMA_KEYWORDS.includes(keyword) && isRecord(value)) found.push({ schema: value, step, level });
    if (Array.isArray(value) && (LIST_KEYWORDS.includes(keyword) || keyword === "items")) {
      for (const [index, item] of value.entries()) {
        found.push({ schema: item, step: { name: String(index), before: step }, level });
      }
    }
    if (!MAP_KEYWORDS.includes(keyword) || !isRecord(value)) continue;
    // A reference may use a definition anywhere, so the levels of a definition count from its own top.
    const from = keyword === "$defs" || keyword === "definitions" ? 0 : level;
    for (const name of Object.keys(value)) {
      found.push({ schema: value[name], step: { name, before: step }, level: from });
    }
  }
  return found;
}

// Sizes

interface Sizes {
  levels: number;
  properties: number;
  enumValues: number;
  nameCharacters: number;
}

function addSizes(schema: JsonRecord, level: number, sizes: Sizes): void {
  sizes.levels = Math.max(sizes.levels, level);
  if (isRecord(schema.properties)) {
    const names = Object.keys(schema.properties);
    sizes.properties += names.length;
    sizes.nameCharacters += charactersOf(names);
  }
  for (const named of [schema.$defs, schema.definitions]) {
    if (isRecord(named)) sizes.nameCharacters += charactersOf(Object.keys(named));
  }
  if (typeof schema.const === "string") sizes.nameCharacters += schema.const.length;
  if (!Array.isArray(schema.enum)) return;
  sizes.enumValues += schema.enum.length;
  sizes.nameCharacters += charactersOf(schema.enum);
}

function charactersOf(values: readonly unknown[]): number {
  let count = 0;
  for (const value of values) if (typeof value === "string") count += value.length;
  return count;
}

function findOversize(sizes: Sizes): SchemaFault | undefined {
  const { levels, properties, enumValues, nameCharacters } = sizes;
  if (levels > MAX_LEVELS) return fault("tooDeep", { count: levels, limit: MAX_LEVELS });
  if (properties > MAX_PROPERTIES) {
    return fault("tooManyProperties", { count: properties, limit: MAX_PROPERTIES });
  }
  if (enumValues > MAX_ENUM_VALUES) {
    return fault("tooManyEnumValues", { count: enumValues, limit: MAX_ENUM_VALUES });
  }
  if (nameCharacters > MAX_NAME_CHARACTERS) {
    return fault("namesTooLong", { count: nameCharacters, limit: MAX_NAME_CHARACTERS });
  }
  return undefined;
}
