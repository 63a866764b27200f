import type { JsonRecord } from "../../../../conversation/untrusted.ts";
import { refuse } from "../../wording/refuse.ts";
import { recordField, recordsField } from "../fields/readers.ts";
import { SERVER_TOOL_RESULTS } from "../shape/block-shapes.ts";
import type { Inspection } from "../shape/shape-check.ts";
import { type PlacedBlock, pathOf, type Role, type SentMessage } from "./conversation.ts";
import { checkText } from "./text.ts";

const KINDS: Readonly<Record<Role, ReadonlySet<string>>> = {
  user: new Set([
    "text",
    "image",
    "document",
    "search_result",
    "tool_result",
    "container_upload",
    "compaction",
  ]),
  assistant: new Set([
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "server_tool_use",
    ...Object.values(SERVER_TOOL_RESULTS),
    "mcp_tool_use",
    "mcp_tool_result",
    "mcp_tool_listing",
    "container_upload",
    "compaction",
    "fallback",
  ]),
  system: new Set(["text", "tool_addition", "tool_removal"]),
};

/** What each message holds, one after the other, whatever its neighbours are. */
export function checkContents(messages: readonly SentMessage[], inspection: Inspection): void {
  const toolUseIds = new Set<unknown>();
  const { body } = inspection.request;
  const toolNames = definedTools(body);
  for (const message of messages) {
    if (message.role === "system" && inspection.request.model?.features.systemMessages === false) {
      refuse("systemRole");
    }
    const isOpenEnd = message.role === "assistant" && message.message === messages.length - 1;
    if (message.blocks.length === 0 && !isOpenEnd && !message.isEffortOnly) {
      refuse("emptyMessage", { path: `messages.${message.message}` });
    }
    for (const placed of message.blocks) {
      checkBlock(placed, message.role, inspection);
      if (placed.type === "tool_use") checkUnique(placed, toolUseIds);
      else if (message.role === "system" && toolNames !== undefined) checkToolChange(placed, toolNames);
    }
  }
}

function checkBlock(placed: PlacedBlock, role: Role, inspection: Inspection): void {
  const { type, block } = placed;
  const isOlder = inspection.request.version === "2023-06-01";
  if (!KINDS[role].has(type) && !(isOlder && type === "document" && role === "assistant")) {
    refuse("blockRole", { path: pathOf(placed), type, role });
  }
  if (type === "text") checkText(block, "messages", () => `${pathOf(placed)}.text`);
  const nested = type === "tool_result" ? recordsField(block, "content") : [];
  for (const [index, inner] of nested.entries()) {
    if (inner.type === "text") checkText(inner, "messages", () => `${pathOf(placed)}.content.${index}.text`);
  }
  if (role === "user" && !isOlder) {
    checkCitations(block, placed);
    for (const inner of nested) checkCitations(inner, placed);
  }
}

/** Citations belong to the assistant's text; a search result's text is the user's. */
function checkCitations(block: JsonRecord, placed: PlacedBlock): void {
  if (block.type === "text" && recordsField(block, "citations").length > 0) {
    refuse("userCitations", { path: pathOf(placed) });
  }
  if (block.type !== "search_result") return;
  for (const text of recordsField(block, "content")) checkCitations(text, placed);
}

function checkUnique(placed: PlacedBlock, toolUseIds: Set<unknown>): void {
  const { id } = placed.block;
  if (toolUseIds.has(id)) refuse("repeatedUseId", { path: pathOf(placed) });
  toolUseIds.add(id);
}

function definedTools(body: JsonRecord): Set<unknown> {
  return new Set(recordsField(body, "tools").map((tool) => tool.name));
}

/** A change of the tools names one that the request, or a change before it, has defined. */
function checkToolChange(placed: PlacedBlock, toolNames: Set<unknown>): void {
  const tool = recordField(placed.block, "tool");
  if (tool?.type === "tool_definition") toolNames.add(recordField(tool, "definition")?.name);
  if (tool?.type === "tool_reference" && !toolNames.has(tool.name)) {
    refuse("toolReference", { path: pathOf(placed), name: String(tool.name) });
  }
}
