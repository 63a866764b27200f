import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";

/**
 * This file reads bodies whose shape was checked before. A field that is absent or null counts as undefined.
 */

export function field(body: JsonRecord, name: string): unknown {
  return body[name] ?? undefined;
}

export function recordField(body: JsonRecord, name: string): JsonRecord | undefined {
  const value = body[name];
  return isRecord(value) ? value : undefined;
}

export function recordsField(body: JsonRecord, name: string): readonly JsonRecord[] {
  const value = body[name];
  return Array.isArray(value) ? value : [];
}
