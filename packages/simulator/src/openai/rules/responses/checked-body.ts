import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";

/** Returns the objects of a list. Returns an empty list for a value that is no list. */
export function recordsIn(value: unknown): readonly JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Returns the object, or an empty one for another value. */
export const recordIn = (value: unknown): JsonRecord => (isRecord(value) ? value : {});

/** Returns the items of an input. A text is one message of the user. */
export function inputItems({ input }: JsonRecord): readonly JsonRecord[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return recordsIn(input);
}

/** True for a field that is sent. The API takes null for a missing field. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** Calls `visit` for each part of content of an item, with the position of the part below the item. */
export function visitParts(item: JsonRecord, visit: (part: JsonRecord, path: string) => void): void {
  for (const field of ["content", "output"] as const) {
    const value = item[field];
    if (isRecord(value)) visit(value, field);
    if (!Array.isArray(value)) continue;
    value.forEach((part, index) => {
      if (isRecord(part)) visit(part, `${field}[${index}]`);
    });
  }
}
