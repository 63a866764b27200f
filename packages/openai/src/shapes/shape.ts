import type { Report } from "../report.ts";
import { at, isRecord, kindOf, own, quote } from "../values.ts";

/**
 * Building blocks for the shape of a request body: types, required fields and known fields. A shape reports
 * each deviation. It looks only at the fields that it names, so its depth is limited and it never follows
 * unknown data.
 */
export type Shape = (value: unknown, path: string, report: Report) => void;

export type Fields = Readonly<Record<string, Shape>>;

export const anything: Shape = () => {};

export const bool: Shape = (value, path, report) => {
  if (typeof value !== "boolean") wrongType(path, "true or false", value, report);
};

/** An object with any fields. */
export const anyObject: Shape = (value, path, report) => {
  if (!isRecord(value)) wrongType(path, "an object", value, report);
};

export const text: Shape = textOfLength();

/** A string. Its length is limited in characters. */
export function textOfLength(limits: { readonly min?: number; readonly max?: number } = {}): Shape {
  const { min = 0, max = Number.POSITIVE_INFINITY } = limits;
  return (value, path, report) => {
    if (typeof value !== "string") wrongType(path, "a string", value, report);
    else if (value.length < min)
      report.add("text-length", path, `${path} is empty. Send a non-empty string.`);
    else if (value.length > max)
      report.add(
        "text-length",
        path,
        `${path} has ${value.length} characters, but the API accepts at most ${max}. Shorten it.`,
      );
  };
}

/** A number in a range. Both ends are included. */
export function number(
  limits: { readonly min?: number; readonly max?: number; readonly whole?: boolean } = {},
): Shape {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, whole = false } = limits;
  return (value, path, report) => {
    const wanted = whole ? "an integer" : "a number";
    if (typeof value !== "number" || (whole && !Number.isInteger(value)))
      wrongType(path, wanted, value, report);
    else if (value < min || value > max)
      report.add("out-of-range", path, `${path} is ${value}. Send a value ${range(min, max)}.`);
  };
}

function range(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return `of at least ${min}`;
  return `from ${min} to ${max}`;
}

/** One of several fixed strings. */
export function oneOf(...values: readonly string[]): Shape {
  const known = new Set(values);
  return (value, path, report) => {
    if (typeof value !== "string") wrongType(path, "a string", value, report);
    else if (!known.has(value)) unknownValue(path, value, values, report);
  };
}

/** `null` or the given shape. */
export function nullable(shape: Shape): Shape {
  return (value, path, report) => {
    if (value !== null) shape(value, path, report);
  };
}

/** The same fields, each of which may also be `null`. */
export function nullableFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, shape]) => [name, nullable(shape)]));
}

/** An array whose items have one shape. */
export function listOf(item: Shape, limits: { readonly min?: number; readonly max?: number } = {}): Shape {
  const { min = 0, max = Number.POSITIVE_INFINITY } = limits;
  return (value, path, report) => {
    if (!Array.isArray(value)) {
      wrongType(path, "an array", value, report);
      return;
    }
    if (value.length < min)
      report.add("list-length", path, `${path} is empty. Add at least one entry, or remove the field.`);
    if (value.length > max)
      report.add(
        "list-length",
        path,
        `${path} has ${value.length} entries, but the API accepts at most ${max}. Remove some.`,
      );
    for (const [index, entry] of value.entries()) item(entry, `${path}[${index}]`, report);
  };
}

/** An object with any names, whose values have one shape. */
export function mapOf(shape: Shape): Shape {
  return (value, path, report) => {
    if (!isRecord(value)) {
      wrongType(path, "an object", value, report);
      return;
    }
    for (const [name, entry] of Object.entries(value)) {
      if (entry !== undefined) shape(entry, at(path, name), report);
    }
  };
}

/** An object with known fields. Reports missing and unknown ones. An undefined field counts as absent. */
export function object(required: Fields, optional: Fields = {}): Shape {
  const known = new Map(Object.entries({ ...optional, ...required }));
  const needed = Object.keys(required);
  return (value, path, report) => {
    if (!isRecord(value)) {
      wrongType(path, "an object", value, report);
      return;
    }
    for (const name of needed) {
      if (own(value, name) === undefined) missingField(at(path, name), report);
    }
    for (const [name, entry] of Object.entries(value)) {
      if (entry === undefined) continue;
      const shape = known.get(name);
      if (shape === undefined) unknownField(at(path, name), report);
      else shape(entry, at(path, name), report);
    }
  };
}

/** An object whose field `tag` selects its shape. */
export function tagged(variants: Fields, tag = "type"): Shape {
  const known = new Map(Object.entries(variants));
  return (value, path, report) => {
    if (!isRecord(value)) {
      wrongType(path, "an object", value, report);
      return;
    }
    const kind = own(value, tag);
    const shape = typeof kind === "string" ? known.get(kind) : undefined;
    if (kind === undefined) missingField(at(path, tag), report);
    else if (typeof kind !== "string") wrongType(at(path, tag), "a string", kind, report);
    else if (shape === undefined) unknownValue(at(path, tag), kind, [...known.keys()], report);
    else shape(value, path, report);
  };
}

/** Selects a shape by the JSON type of the value. */
export function byType(shapes: {
  readonly string?: Shape;
  readonly array?: Shape;
  readonly object?: Shape;
}): Shape {
  const wanted = Object.keys(shapes)
    .map((kind) => (kind === "string" ? "a string" : `an ${kind}`))
    .join(" or ");
  return (value, path, report) => {
    const shape = shapes[shapeKey(value)];
    if (shape === undefined) wrongType(path, wanted, value, report);
    else shape(value, path, report);
  };
}

function shapeKey(value: unknown): "string" | "array" | "object" {
  if (typeof value === "string") return "string";
  return Array.isArray(value) ? "array" : "object";
}

export function wrongType(path: string, wanted: string, value: unknown, report: Report): void {
  report.add("wrong-type", path, `${path || "The body"} is ${kindOf(value)}. Send ${wanted}.`);
}

export function missingField(path: string, report: Report): void {
  report.add("missing-field", path, `The required field ${path} is missing. Add it.`);
}

function unknownField(path: string, report: Report): void {
  if (report.options.unknownFields === "accepted") return;
  report.add("unknown-field", path, `${path} is not a field of the API. Remove it.`);
}

/** Number of supported values that a message lists. A longer list hides the value in question. */
const LISTED_VALUES = 12;

export function unknownValue(path: string, value: string, values: readonly string[], report: Report): void {
  const listed = values.slice(0, LISTED_VALUES).map(quote).join(", ");
  const more = values.length > LISTED_VALUES ? " and others" : "";
  report.add("unknown-value", path, `${path} is ${quote(value)}. Supported values are ${listed}${more}.`);
}
