import { type Entry, entryBlocks, isEntry } from "../../messages/entry.ts";
import type { ContentBlock } from "../../messages/message.ts";
import { contentText, field, isRecord, stringField } from "../../messages/untrusted.ts";
import { sentContent } from "./attachment-content.ts";

/** Maximum depth of a tool input that is read. A model can nest inputs to any depth. */
const MAX_DEPTH = 12;

/**
 * Joins everything that an agent reads in these entries: messages, inputs of calls, results and attachments.
 * Joins the values of an input instead of its JSON, because JSON hides line breaks. Excludes thinking.
 */
export function readableText(entries: readonly Entry[]): string {
  return entries
    .filter(isEntry)
    .flatMap(entryText)
    .filter((text) => text !== "")
    .join("\n");
}

function entryText(entry: Entry): readonly string[] {
  if (entry.type === "user" || entry.type === "assistant") return entryBlocks(entry).flatMap(blockText);
  if (entry.type !== "attachment" || !isRecord(entry.attachment)) return [];
  return [contentText(sentContent(entry))];
}

function blockText(block: ContentBlock): readonly string[] {
  switch (block.type) {
    case "text":
      return [stringField(block, "text") ?? ""];
    case "tool_use":
      return valuesIn(field(block, "input"), MAX_DEPTH);
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
