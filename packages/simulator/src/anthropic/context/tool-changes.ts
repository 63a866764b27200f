import {
  asList,
  contentBlocks,
  field,
  isRecord,
  type JsonRecord,
  stringField,
  tagOf,
} from "@longhaul/core/internal/messages";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import { withoutMarks } from "../../prompt/block-equality.ts";
import { asCompaction } from "./conversation.ts";

/** Returns the names of tools that a block adds to the conversation. */
export function referencedTools(block: ContentBlock): readonly string[] {
  if (tagOf(block) === "tool_addition") return nameOf(field(block, "tool"));
  if (tagOf(block) === "tool_result") return asList(field(block, "content")).flatMap(nameOf);
  if (tagOf(block) === "tool_search_tool_result") {
    return asList(field(field(block, "content"), "tool_references")).flatMap(nameOf);
  }
  return [];
}

function nameOf(reference: unknown): readonly string[] {
  if (stringField(reference, "type") !== "tool_reference") return [];
  const name = stringField(reference, "name") ?? stringField(reference, "tool_name");
  return name === undefined ? [] : [name];
}

/**
 * Returns the tool changes that these messages made to `tools`, without changes that were reverted. A
 * compaction block keeps these changes, because the compaction removes the messages.
 */
export function toolChanges(
  messages: readonly ApiMessage[],
  tools: readonly JsonRecord[],
): readonly JsonRecord[] {
  const last = new Map<string, JsonRecord>();
  for (const change of messages.flatMap(changesOf)) {
    last.set(changeKey(change.tool), withoutMarks(change) as JsonRecord);
  }
  const offered = new Set(
    tools.filter((tool) => tool.defer_loading !== true).map((tool) => `tool\0${stringField(tool, "name")}`),
  );
  return [...last].filter(([key, change]) => isChange(key, change, offered)).map(([, change]) => change);
}

function changesOf(message: ApiMessage): readonly JsonRecord[] {
  return contentBlocks(message.content).flatMap((block): readonly JsonRecord[] => {
    const summary = asCompaction(block);
    if (summary !== undefined) return asList(summary.tool_changes).filter(isRecord);
    const isChanging = tagOf(block) === "tool_addition" || tagOf(block) === "tool_removal";
    return message.role === "system" && isChanging ? [block as unknown as JsonRecord] : [];
  });
}

function isChange(key: string, change: JsonRecord, offered: ReadonlySet<string>): boolean {
  const isAddition = change.type === "tool_addition";
  if (stringField(change.tool, "type") === "tool_definition") return true;
  return !key.startsWith("tool\0") || isAddition !== offered.has(key);
}

function changeKey(tool: unknown): string {
  const server = stringField(tool, "server_name");
  const name = stringField(tool, "name") ?? stringField(field(tool, "definition"), "name");
  return server === undefined ? `tool\0${name}` : `server\0${server}\0${name ?? ""}`;
}
