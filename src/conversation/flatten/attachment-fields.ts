import { isRecord, type JsonRecord, stringField, stringListField } from "../untrusted.ts";

/** Text of a field; empty where there is none. */
export function textField(record: JsonRecord, name: string): string {
  return stringField(record, name) ?? "";
}

export function numberField(record: JsonRecord, name: string): number | undefined {
  const value = record[name];
  return typeof value === "number" ? value : undefined;
}

export function recordField(record: JsonRecord, name: string): JsonRecord {
  const value = record[name];
  return isRecord(value) ? value : {};
}

export function recordsField(record: JsonRecord, name: string): readonly JsonRecord[] {
  const value = record[name];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** One string counts as a list of one. */
export function stringsField(record: JsonRecord, name: string): readonly string[] {
  const value = record[name];
  if (typeof value === "string") return value === "" ? [] : [value];
  return stringListField(record, name);
}
