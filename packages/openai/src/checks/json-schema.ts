import type { Report } from "../report.ts";
import { fieldOf, isRecord, type JsonRecord, own, quote } from "../values.ts";

/** Limits of a strict schema, from the guide Structured outputs. */
const MAX_PROPERTIES = 5_000;
const MAX_LEVELS = 10;
const MAX_ENUM_VALUES = 1_000;
const MAX_CHARACTERS = 120_000;
/** From this number of values, the characters of one enum are limited. */
const LARGE_ENUM = 250;
const MAX_ENUM_CHARACTERS = 15_000;

/** Keywords that strict schemas do not support. The guide lists some, and the official SDK removes the others. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  "allOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "patternProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "prefixItems",
  "contains",
  "minContains",
  "maxContains",
  "uniqueItems",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
  "$anchor",
  "$dynamicAnchor",
  "$dynamicRef",
  "$recursiveAnchor",
  "$recursiveRef",
]);

/** Keywords that no schema may have at its root, besides the type. */
const NOT_AT_ROOT = ["oneOf", "anyOf", "allOf", "enum", "not"];

const TYPES: ReadonlySet<unknown> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
]);

/** Formats of texts that strict schemas support. */
const TEXT_FORMATS = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/** Number of steps of a position that a message shows. */
const SHOWN_STEPS = 6;

/** Position in a schema. Linked, because a deep schema would make each copied list long. */
interface Place {
  readonly step: string;
  readonly parent: Place | undefined;
  /** Number of objects and arrays around this place. */
  readonly level: number;
}

interface Node {
  readonly schema: JsonRecord;
  readonly place: Place | undefined;
}

/** A schema in the request. The API names the whole schema in `param`, and the position in the message. */
export interface SchemaSubject {
  readonly path: string;
  readonly strict: boolean;
  readonly report: Report;
}

interface Totals {
  properties: number;
  enumValues: number;
  characters: number;
}

/** Checks the parameters of a function. */
export function checkParameters(schema: unknown, subject: SchemaSubject): void {
  if (!isRecord(schema)) return;
  checkRoot(schema, "schema-root", subject);
  if (!isRecord(own(schema, "properties")))
    subject.report.add(
      "schema-root",
      subject.path,
      `${subject.path} has no "properties". Add an empty object if there are none.`,
    );
  walk(schema, subject);
}

/** Checks the schema of a structured output. Its root is free if the schema is not strict. */
export function checkOutputSchema(schema: unknown, subject: SchemaSubject): void {
  if (!isRecord(schema)) return;
  if (subject.strict) checkRoot(schema, "schema-strict", subject);
  walk(schema, subject);
}

function checkRoot(schema: JsonRecord, rule: "schema-root" | "schema-strict", subject: SchemaSubject): void {
  const { path, report } = subject;
  if (own(schema, "type") !== "object")
    report.add(rule, path, `${path} has not the type "object" at its root. Describe an object.`);
  for (const keyword of NOT_AT_ROOT) {
    if (own(schema, keyword) !== undefined)
      report.add(rule, path, `${path} has ${quote(keyword)} at its root. Move it into a property.`);
  }
}

function walk(root: JsonRecord, subject: SchemaSubject): void {
  const totals: Totals = { properties: 0, enumValues: 0, characters: 0 };
  const open: Node[] = [{ schema: root, place: undefined }];
  let isTooDeep = false;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    checkNode(node, subject);
    if (subject.strict) {
      checkStrict(node, root, subject);
      count(node.schema, totals, subject);
      isTooDeep ||= levelOf(node) > MAX_LEVELS;
    }
    pushChildren(node, open, subject);
  }
  if (!subject.strict) return;
  if (isTooDeep) reportSize(`has more than ${MAX_LEVELS} levels of objects and arrays`, subject);
  if (totals.properties > MAX_PROPERTIES) reportSize(`has more than ${MAX_PROPERTIES} properties`, subject);
  if (totals.enumValues > MAX_ENUM_VALUES)
    reportSize(`has more than ${MAX_ENUM_VALUES} enum values`, subject);
  if (totals.characters > MAX_CHARACTERS)
    reportSize(`has more than ${MAX_CHARACTERS} characters in names and values`, subject);
}

function reportSize(excess: string, { path, report }: SchemaSubject): void {
  report.add("schema-size", path, `${path} ${excess}. Make the schema smaller, or set "strict" to false.`);
}

function hasType({ schema }: Node, type: string): boolean {
  const given = own(schema, "type");
  return given === type || (Array.isArray(given) && given.includes(type));
}

function levelOf(node: Node): number {
  return (node.place?.level ?? 0) + (hasType(node, "object") || hasType(node, "array") ? 1 : 0);
}

/** Checks what every schema needs, also one that is not strict. */
function checkNode(node: Node, { path, report }: SchemaSubject): void {
  const { schema, place } = node;
  const type = own(schema, "type");
  for (const name of Array.isArray(type) ? type : [type]) {
    if (name !== undefined && !TYPES.has(name))
      report.add("schema-type", path, `${path} has an unknown type${where(place)}. Use a type of JSON.`);
  }
  if (!hasType(node, "array") || own(schema, "items") !== undefined) return;
  if (own(schema, "prefixItems") !== undefined) return;
  report.add("schema-items", path, `${path} has an array without "items"${where(place)}. Add them.`);
}

function checkStrict(node: Node, root: JsonRecord, subject: SchemaSubject): void {
  const { schema, place } = node;
  const { path, report } = subject;
  const add = (problem: string): void => report.add("schema-strict", path, `${path} ${problem}`);
  const reference = own(schema, "$ref");
  if (reference !== undefined) {
    if (Object.keys(schema).length > 1)
      add(`has other keywords beside a "$ref"${where(place)}. Remove them, or move them to the definition.`);
    if (!resolves(reference, root)) add(`has a "$ref" without a target${where(place)}. Add the definition.`);
    return;
  }
  for (const keyword of Object.keys(schema)) {
    if (UNSUPPORTED.has(keyword))
      add(
        `uses ${quote(keyword)}${where(place)}, which strict schemas do not support. Remove it, or set "strict" to false.`,
      );
  }
  if (own(schema, "type") === undefined && own(schema, "anyOf") === undefined)
    add(`has a schema without a type${where(place)}. Add "type".`);
  const format = own(schema, "format");
  if (hasType(node, "string") && typeof format === "string" && !TEXT_FORMATS.includes(format))
    add(`has the format ${quote(format)}${where(place)}, which strict schemas do not support. Remove it.`);
  if (!hasType(node, "object")) return;
  if (own(schema, "additionalProperties") !== false)
    add(`has an object${where(place)} without "additionalProperties": false. Add it.`);
  checkRequired(schema, where(place), add);
}

/** Longest reference that is followed, in steps. */
const MAX_REFERENCE_STEPS = 100;

function resolves(reference: unknown, root: JsonRecord): boolean {
  if (typeof reference !== "string" || !/^#(?:$|\/)/.test(reference)) return false;
  const steps = reference.split("/", MAX_REFERENCE_STEPS).slice(1);
  let target: unknown = root;
  for (const step of steps) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    target = Array.isArray(target) ? target[Number(name)] : fieldOf(target, name);
  }
  return isRecord(target);
}

function checkRequired(schema: JsonRecord, place: string, add: (problem: string) => void): void {
  const properties = own(schema, "properties");
  const names = isRecord(properties) ? Object.keys(properties) : [];
  const given = own(schema, "required");
  const required: ReadonlySet<unknown> = new Set(Array.isArray(given) ? given : []);
  const missing = names.find((name) => !required.has(name));
  if (missing !== undefined)
    add(
      `does not require the property ${quote(missing)}${place}. Add it to "required", and allow null for an optional one.`,
    );
  const known: ReadonlySet<unknown> = new Set(names);
  if ([...required].some((name) => !known.has(name)))
    add(`requires a property that it does not describe${place}. Remove it from "required".`);
}

function count(schema: JsonRecord, totals: Totals, subject: SchemaSubject): void {
  for (const field of ["properties", "$defs", "definitions"]) {
    const named = own(schema, field);
    if (!isRecord(named)) continue;
    const names = Object.keys(named);
    if (field === "properties") totals.properties += names.length;
    totals.characters += charactersOf(names);
  }
  const values = own(schema, "enum");
  if (Array.isArray(values)) {
    const characters = charactersOf(values);
    totals.enumValues += values.length;
    totals.characters += characters;
    if (values.length > LARGE_ENUM && characters > MAX_ENUM_CHARACTERS)
      reportSize(`has a large enum with more than ${MAX_ENUM_CHARACTERS} characters`, subject);
  }
  totals.characters += charactersOf([own(schema, "const")]);
}

function charactersOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0);
}

/** Keywords with one subschema, with a list of them and with named ones. */
const SINGLE = ["items", "additionalProperties", "not"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];
const NAMED = ["properties", "$defs", "definitions", "patternProperties"];

function pushChildren(node: Node, open: Node[], subject: SchemaSubject): void {
  const { schema } = node;
  const level = levelOf(node);
  const push = (child: unknown, step: string, from = level): void => {
    const place = { step, parent: node.place, level: from };
    if (isRecord(child)) open.push({ schema: child, place });
    else if (typeof child !== "boolean" || subject.strict) reportNoSchema(place, subject);
  };
  for (const field of SINGLE) {
    const child = own(schema, field);
    if (isRecord(child)) push(child, field);
  }
  for (const field of LISTS) {
    const children = own(schema, field);
    if (!Array.isArray(children)) continue;
    for (const [index, child] of children.entries()) push(child, `${field}[${index}]`);
  }
  for (const field of NAMED) {
    const children = own(schema, field);
    if (!isRecord(children)) continue;
    // A reference may stand anywhere, so the levels of a definition count from its own root.
    const from = field === "$defs" || field === "definitions" ? 0 : level;
    for (const [name, child] of Object.entries(children)) push(child, name, from);
  }
}

function reportNoSchema(place: Place, { path, report }: SchemaSubject): void {
  report.add("schema-type", path, `${path} has a value that is no schema${where(place)}. Send an object.`);
}

function where(place: Place | undefined): string {
  const steps: string[] = [];
  let step = place;
  for (; step !== undefined && steps.length < SHOWN_STEPS; step = step.parent) steps.unshift(step.step);
  if (steps.length === 0) return "";
  return ` at ${quote(`${step === undefined ? "" : "… "}${steps.join(".")}`)}`;
}
