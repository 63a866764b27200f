import type { ContentBlock } from "./block.ts";
import type { AssistantEntry, Entry, UserEntry } from "./entry.ts";
import { isNestedTooDeep, mayNestTooDeep } from "./nesting.ts";

/**
 * Entries come from files that anything may have written. The types say what an entry should be; these
 * readers say what is really there, and treat what has the wrong shape as absent instead of throwing.
 */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A line of a file may hold a number or `null`; only what has a type can be an entry. */
export function isEntry(value: unknown): value is Entry {
  return isRecord(value) && typeof value.type === "string";
}

export function isBlock(value: unknown): value is ContentBlock {
  return isRecord(value) && typeof value.type === "string";
}

export function rawContent(entry: UserEntry | AssistantEntry): unknown {
  const message: unknown = entry.message;
  return isRecord(message) ? message.content : undefined;
}

/** The blocks that can be read; the very array of the entry when all of them can. */
export function entryBlocks(entry: UserEntry | AssistantEntry): readonly ContentBlock[] {
  const content = rawContent(entry);
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.every(isBlock) ? content : content.filter(isBlock);
}

/** The id that all entries of one model response share. An empty one identifies nothing. */
export function responseIdOf(entry: AssistantEntry): string | undefined {
  const message: unknown = entry.message;
  const id = isRecord(message) ? message.id : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** Undefined for text that is no JSON, or is nested too deep to be handled. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return mayNestTooDeep(text) && isNestedTooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}
