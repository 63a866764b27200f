/** A JSON object whose fields are unchecked. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a field of the object itself. A field of its prototype does not count. */
export function own(value: JsonRecord, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Reads a field of any value. Undefined if the value is not an object. */
export function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) ? own(value, name) : undefined;
}

/** Reads a string field of any value. Undefined if the field is not a string. */
export function textOf(value: unknown, name: string): string | undefined {
  const field = fieldOf(value, name);
  return typeof field === "string" ? field : undefined;
}

/** Reads an array field of any value. Empty if the field is not an array. */
export function listOf(value: unknown, name: string): readonly unknown[] {
  const field = fieldOf(value, name);
  return Array.isArray(field) ? field : [];
}

/** True if the field is present. `null` counts as absent, because the API treats it as the default. */
export function isSet(value: unknown, name: string): boolean {
  const field = fieldOf(value, name);
  return field !== undefined && field !== null;
}

/** Kind of a JSON value, for messages: "a string", "null". */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (value === undefined) return "undefined";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Length of names and values in messages. A longer one is cut, so that a message stays readable. */
const QUOTED_LENGTH = 60;

export function quote(text: string): string {
  return `"${text.length > QUOTED_LENGTH ? `${text.slice(0, QUOTED_LENGTH)}…` : text}"`;
}

/** Path of a field, as the API writes it in `param`: `messages[2].role`. */
export function at(path: string, name: string): string {
  const shown = name.length > QUOTED_LENGTH ? `${name.slice(0, QUOTED_LENGTH)}…` : name;
  return path === "" ? shown : `${path}.${shown}`;
}
