import type { JsonRecord } from "@longhaul/core/internal/messages";
import type { OpenAiRequest, OpenAiSwitches, ResponsesMemory } from "../../request.ts";
import { refuse } from "../../wording/refuse.ts";
import { shortened } from "../shape/inspection.ts";
import { recordsIn } from "./checked-body.ts";
import { itemType } from "./item-shapes.ts";

/** Items that the model writes after it reasons. */
const WRITTEN: ReadonlySet<unknown> = new Set([
  "function_call",
  "custom_tool_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call",
  "computer_call",
  "tool_search_call",
  "tool_search_output",
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_call",
  "program",
  "program_output",
  "shell_call_output",
  "compaction",
  "multi_agent_call",
  "multi_agent_call_output",
  "agent_message",
]);

const isWritten = (item: JsonRecord): boolean =>
  WRITTEN.has(itemType(item)) || (itemType(item) === "message" && item.role === "assistant");

const idOf = (item: JsonRecord): string | undefined => (typeof item.id === "string" ? item.id : undefined);

/** Refuses a second item with the same id. The stored items that the request continues count too. */
export function checkIds(items: readonly JsonRecord[]): void {
  const seen = new Set<string>();
  for (const item of items) {
    const id = idOf(item);
    if (id === undefined || item.type === "local_shell_call_output") continue;
    if (seen.has(id)) refuse("itemDuplicate", "input", { id: shortened(id) });
    seen.add(id);
  }
}

/** Lookup of the reasoning item without which the API refuses an item. */
type RequiredReasoning = (itemId: string) => string | undefined;

/**
 * Refuses a reasoning item that no item of the model follows, and an item without the reasoning item that came
 * before it. Both rules link items by their ids, so items without ids are free. The API keeps stored items
 * together itself: only reasoning items of the input need an item that follows.
 */
export function checkReasoning(
  earlier: readonly JsonRecord[],
  input: readonly JsonRecord[],
  requiredReasoning: RequiredReasoning,
): void {
  const alone = reasoningAlone(input);
  const before = new Set<string>();
  for (const item of earlier) {
    const id = idOf(item);
    if (id !== undefined) before.add(id);
  }
  for (const item of input) {
    if (item === alone) refuse("followingItemMissing", "input", { id: String(item.id) });
    const id = idOf(item);
    if (id === undefined) continue;
    before.add(id);
    const reasoning = requiredReasoning(id);
    if (reasoning !== undefined && !before.has(reasoning)) {
      refuse("reasoningItemMissing", "input", { id, type: String(itemType(item)), reasoning });
    }
  }
}

/** Finds the first reasoning item with an id that no item of the model follows. */
function reasoningAlone(input: readonly JsonRecord[]): JsonRecord | undefined {
  let alone: JsonRecord | undefined;
  let isFollowed = false;
  for (let index = input.length - 1; index >= 0; index--) {
    const item = input[index];
    if (item === undefined) continue;
    if (itemType(item) !== "reasoning") isFollowed = isWritten(item);
    else if (!isFollowed && idOf(item) !== undefined) alone = item;
  }
  return alone;
}

/** Refuses items that name content which the API does not have, or which it did not write. */
export function checkStoredContent(
  input: readonly JsonRecord[],
  { body, memory }: OpenAiRequest,
  { foreignReasoning }: OpenAiSwitches,
): void {
  if (memory === undefined) return;
  for (const item of input) {
    const type = itemType(item);
    if (type === "item_reference") requireStored(item, memory, body);
    if (foreignReasoning === "accepted" || (type !== "reasoning" && type !== "compaction")) continue;
    const { encrypted_content: encrypted } = item;
    if (typeof encrypted === "string") checkEncrypted(item, encrypted, memory);
    else requireStored(item, memory, body);
  }
}

/** Refuses content that the API did not write, or that it wrote for another item. */
function checkEncrypted(item: JsonRecord, encrypted: string, memory: ResponsesMemory): void {
  const written = memory.writtenContent(encrypted);
  if (written === undefined) {
    refuse("encryptedContentInvalid", null, { subject: subjectOf(item, encrypted) });
  }
  const id = idOf(item);
  if (id === undefined || written.itemId === undefined || written.itemId === id) return;
  refuse("encryptedContentMoved", null, { id });
}

function requireStored(item: JsonRecord, memory: ResponsesMemory, body: JsonRecord): void {
  const id = idOf(item);
  if (id === undefined || memory.storedItem(id) !== undefined) return;
  refuse(body.store === false ? "itemUnstored" : "itemUnknown", "input", { id: shortened(id) });
}

/** Names the item, or the first and last four characters of its content if it has no id. */
function subjectOf(item: JsonRecord, encrypted: string): string {
  const id = idOf(item);
  if (id !== undefined) return `for item ${shortened(id)}`;
  return `${encrypted.slice(0, 4)}...${encrypted.slice(-4)}`;
}

/** Replaces references with the stored items that they name. Unknown references stay. */
export const withoutReferences = (
  items: readonly JsonRecord[],
  memory: ResponsesMemory | undefined,
): readonly JsonRecord[] =>
  items.map((item) => {
    const id = itemType(item) === "item_reference" ? idOf(item) : undefined;
    return (id === undefined ? undefined : memory?.storedItem(id)) ?? item;
  });

/** Refuses a request for compaction that is not the last item. */
export function checkTrigger(input: readonly JsonRecord[]): void {
  const index = input.findIndex(({ type }) => type === "compaction_trigger");
  if (index < 0 || index === input.length - 1) return;
  const path = `input[${index}]`;
  refuse("triggerNotLast", path, { path });
}

/**
 * Refuses a call without its namespace, after a search has loaded the function into one. Functions that the
 * request offers without deferring them are in the default namespace as well.
 */
export function checkNamespaces(items: readonly JsonRecord[], tools: readonly JsonRecord[]): void {
  const offered = new Set<unknown>();
  for (const { name, defer_loading: isDeferred } of tools) if (isDeferred !== true) offered.add(name);
  const loaded = new Set<unknown>();
  for (const item of items) {
    if (item.type === "tool_search_output") {
      for (const name of namesLoadedBy(recordsIn(item.tools))) loaded.add(name);
    } else if (item.type === "function_call" && (item.namespace ?? undefined) === undefined) {
      const { name } = item;
      if (!loaded.has(name) || offered.has(name)) continue;
      refuse("namespaceMissing", "input", { name: String(name) });
    }
  }
}

function namesLoadedBy(tools: readonly JsonRecord[]): readonly unknown[] {
  return tools.flatMap((tool) => {
    if (tool.type === "namespace") return recordsIn(tool.tools).map(({ name }) => name);
    return tool.type === "function" && tool.defer_loading === true ? [tool.name] : [];
  });
}
