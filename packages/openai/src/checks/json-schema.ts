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

const UNSUPPORTED = [
  "allOf",
  "oneOf",
  "not",
  "dependentRequired",
  "dependentSchemas",
  "if",
  "then",
  "else",
] as const;

/** Number of steps of a position that a message shows. */
const SHOWN_STEPS = 6;

/** Position in a schema. Linked, because a deep schema would make each copied list long. */
interface Place {
  readonly step: string;
  readonly parent: Place | undefined;
  /** Number of objects around this place. */
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

/** Checks the parameters of a function. The API also checks the arrays of a schema that is not strict. */
export function checkParameters(schema: unknown, subject: SchemaSubject): void {
  if (!isRecord(schema)) return;
  const { path, report } = subject;
  if (own(schema, "type") !== "object")
    report.add(
      "schema-root",
      path,
      `${path} has not the type "object". Describe the parameters as an object.`,
    );
  else if (!isRecord(own(schema, "properties")))
    report.add("schema-root", path, `${path} has no "properties". Add an empty object if there are none.`);
  walk(schema, subject, true);
}

/** Checks the schema of a structured output. A schema that is not strict has no rules. */
export function checkOutputSchema(schema: unknown, subject: SchemaSubject): void {
  if (!isRecord(schema) || !subject.strict) return;
  const { path, report } = subject;
  if (own(schema, "type") !== "object")
    report.add("schema-strict", path, `${path} has not the type "object" at its root. Wrap it in an object.`);
  walk(schema, subject, false);
}

function walk(root: JsonRecord, subject: SchemaSubject, checksItems: boolean): void {
  const { strict, path, report } = subject;
  const totals: Totals = { properties: 0, enumValues: 0, characters: 0 };
  const open: Node[] = [{ schema: root, place: undefined }];
  let isTooDeep = false;
  if (strict && own(root, "anyOf") !== undefined)
    report.add("schema-strict", path, `${path} has "anyOf" at its root. Wrap it in an object.`);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (checksItems) checkItems(node, subject);
    if (strict) {
      checkStrict(node, subject);
      count(node.schema, totals, subject);
      isTooDeep ||= levelOf(node) > MAX_LEVELS;
    }
    pushChildren(node, open);
  }
  if (isTooDeep) reportSize(`has more than ${MAX_LEVELS} levels of objects`, subject);
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
  return (node.place?.level ?? 0) + (hasType(node, "object") ? 1 : 0);
}

function checkItems(node: Node, { path, report }: SchemaSubject): void {
  const { schema } = node;
  if (!hasType(node, "array")) return;
  if (own(schema, "items") !== undefined || own(schema, "prefixItems") !== undefined) return;
  report.add("schema-items", path, `${path} has an array without "items"${where(node.place)}. Add them.`);
}

function checkStrict(node: Node, { path, report }: SchemaSubject): void {
  const { schema, place } = node;
  for (const keyword of UNSUPPORTED) {
    if (own(schema, keyword) !== undefined)
      report.add(
        "schema-strict",
        path,
        `${path} uses ${quote(keyword)}${where(place)}, which strict schemas do not support. Remove it, or set "strict" to false.`,
      );
  }
  if (!hasType(node, "object")) return;
  if (own(schema, "additionalProperties") !== false)
    report.add(
      "schema-strict",
      path,
      `${path} has an object${where(place)} without "additionalProperties": false. Add it.`,
    );
  const missing = unrequired(schema);
  if (missing !== undefined)
    report.add(
      "schema-strict",
      path,
      `${path} does not require the property ${quote(missing)}${where(place)}. Add it to "required", and allow null for an optional one.`,
    );
}

/** First property that `required` lacks. */
function unrequired(schema: JsonRecord): string | undefined {
  const properties = own(schema, "properties");
  if (!isRecord(properties)) return undefined;
  const required = own(schema, "required");
  const names = new Set(Array.isArray(required) ? required : []);
  return Object.keys(properties).find((name) => !names.has(name));
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
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const NAMED = ["properties", "$defs", "definitions"];

function pushChildren(node: Node, open: Node[]): void {
  const { schema } = node;
  const level = levelOf(node);
  const push = (child: unknown, step: string): void => {
    if (isRecord(child)) open.push({ schema: child, place: { step, parent: node.place, level } });
  };
  for (const field of SINGLE) push(own(schema, field), field);
  for (const field of LISTS) {
    const children = own(schema, field);
    if (!Array.isArray(children)) continue;
    for (const [index, child] of children.entries()) push(child, `${field}[${index}]`);
  }
  for (const field of NAMED) {
    const children = fieldOf(schema, field);
    if (!isRecord(children)) continue;
    for (const [name, child] of Object.entries(children)) push(child, name);
  }
}

function where(place: Place | undefined): string {
  const steps: string[] = [];
  let step = place;
  for (; step !== undefined && steps.length < SHOWN_STEPS; step = step.parent) steps.unshift(step.step);
  if (steps.length === 0) return "";
  return ` at ${quote(`${step === undefined ? "" : "… "}${steps.join(".")}`)}`;
}
