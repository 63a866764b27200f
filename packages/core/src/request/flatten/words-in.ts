import { type Entry, entryBlocks, isEntry } from "../../messages/entry.ts";
import type { ContentBlock } from "../../messages/message.ts";
import { contentText, field, isRecord, stringField } from "../../messages/untrusted.ts";
import { sentContent } from "./attachment-content.ts";

/** Inputs are nested as deep as a model likes. */
const DEEPEST = 12;

/**
 * All that an agent reads in these entries as one text: what was said, the values of every call's input as they are
 * (JSON would hide line breaks), results, what was attached. Not its thinking, which no longer counts as said.
 */
export function wordsIn(entries: readonly Entry[]): string {
  return entries
    .filter(isEntry)
    .flatMap(wordsOf)
    .filter((text) => text !== "")
    .join("\n");
}

function wordsOf(entry: Entry): readonly string[] {
  if (entry.type === "user" || entry.type === "assistant") return entryBlocks(entry).flatMap(blockWords);
  if (entry.type !== "attachment" || !isRecord(entry.attachment)) return [];
  return [contentText(sentContent(entry))];
}

function blockWords(block: ContentBlock): readonly string[] {
  switch (block.type) {
    case "text":
      return [stringField(block, "text") ?? ""];
    case "tool_use":
      return valuesIn(field(block, "input"), DEEPEST);
    case "tool_result":
      return [contentText(field(block, "content"))];
    default:
      return [];
  }
}

function valuesIn(value: unknown, deepest: number): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || deepest === 0) return [];
  return Object.values(value).flatMap((inner) => valuesIn(inner, deepest - 1));
}
