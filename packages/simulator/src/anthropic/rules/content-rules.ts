import type { JsonRecord } from "@longhaul/core/internal/messages";
import { MAX_CACHE_MARKS, maxMediaFor } from "@longhaul/core/internal/request";
import { refuse } from "../wording/refuse.ts";
import {
  type PlacedBlock,
  pathOf,
  type Role,
  recordField,
  recordsField,
  type SentMessage,
} from "./checked-body.ts";
import { MediaRules } from "./image-rules.ts";
import { SERVER_TOOL_RESULTS } from "./shape/block-shapes.ts";
import type { Inspection } from "./shape/inspection.ts";

/** Checks the content of each message. Rules about neighboring messages are in `order-rules.ts`. */
export function checkContents(messages: readonly SentMessage[], inspection: Inspection): void {
  const toolUseIds = new Set<unknown>();
  const { body, model } = inspection.request;
  const toolNames = new Set<unknown>(recordsField(body, "tools").map((tool) => tool.name));
  const media = new MediaRules(messages);
  const referable = referableTools(messages, body);
  for (const message of messages) {
    if (message.role === "system" && model?.features.systemMessages === false) {
      refuse("systemRole");
    }
    const isOpenEnd = message.role === "assistant" && message.message === messages.length - 1;
    if (message.blocks.length === 0 && !isOpenEnd && !message.isEffortOnly) {
      refuse("emptyMessage", { path: `messages.${message.message}` });
    }
    for (const placed of message.blocks) {
      checkBlock(placed, message.role, inspection);
      media.check(placed);
      checkToolReferences(placed, referable);
      if (placed.type === "tool_use") checkUnique(placed, toolUseIds);
      else if (message.role === "system") checkToolChange(placed, toolNames);
    }
  }
}

export function checkSystem(body: JsonRecord): void {
  const { system } = body;
  if (typeof system === "string") checkText({ text: system }, "system", () => "system");
  for (const [index, block] of recordsField(body, "system").entries()) {
    checkText(block, "system", () => `system.${index}`);
  }
}

/** Checks limits over all messages. */
export function checkCounts(messages: readonly SentMessage[], inspection: Inspection): void {
  checkToolsGiven(messages, inspection);
  checkMediaCount(messages, inspection);
}

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

/**
 * Refuses citations in text of the user, also in the text of a search result. Only text of the assistant may
 * have citations.
 */
function checkCitations(block: JsonRecord, placed: PlacedBlock): void {
  if (block.type === "text" && recordsField(block, "citations").length > 0) {
    refuse("userCitations", { path: pathOf(placed) });
  }
  if (block.type !== "search_result") return;
  for (const text of recordsField(block, "content")) checkCitations(text, placed);
}

/**
 * Returns the names of all tools that a tool result may refer to. Returns undefined if a toolset defines tools
 * whose names the request does not contain, and for a request without tools, because reports about such requests
 * conflict (see the switch `requireTools`).
 */
function referableTools(
  messages: readonly SentMessage[],
  body: JsonRecord,
): ReadonlySet<unknown> | undefined {
  const tools = recordsField(body, "tools");
  if (tools.length === 0 || tools.some(({ type }) => typeof type === "string" && type.includes("toolset")))
    return undefined;
  const names = new Set<unknown>(tools.map(({ name }) => name));
  for (const { block } of messages.flatMap(({ blocks }) => blocks)) {
    for (const change of block.type === "compaction" ? recordsField(block, "tool_changes") : [block]) {
      const definition =
        change.type === "tool_addition" ? recordField(change, "tool")?.definition : undefined;
      if (definition !== undefined) names.add((definition as JsonRecord).name);
    }
  }
  return names;
}

function checkToolReferences({ type, block }: PlacedBlock, names: ReadonlySet<unknown> | undefined): void {
  if (names === undefined || type !== "tool_result") return;
  for (const { type: nested, tool_name: name } of recordsField(block, "content")) {
    if (nested === "tool_reference" && !names.has(name))
      refuse("toolReferenceUnknown", { name: String(name) });
  }
}

function checkUnique(placed: PlacedBlock, toolUseIds: Set<unknown>): void {
  const { id } = placed.block;
  if (toolUseIds.has(id)) refuse("repeatedUseId", { path: pathOf(placed) });
  toolUseIds.add(id);
}

/** Checks a tool change. It must name a tool that the request, or an earlier change, has defined. */
function checkToolChange(placed: PlacedBlock, toolNames: Set<unknown>): void {
  const tool = recordField(placed.block, "tool");
  if (tool?.type === "tool_definition") toolNames.add(recordField(tool, "definition")?.name);
  if (tool?.type === "tool_reference" && !toolNames.has(tool.name)) {
    refuse("toolReference", { path: pathOf(placed), name: String(tool.name) });
  }
}

const VISIBLE = /\S/;

/** Refuses empty and blank text. Calls `textPath` only for a refusal. */
function checkText(block: JsonRecord, root: "messages" | "system", textPath: () => string): void {
  const text = block.text as string;
  if (VISIBLE.test(text)) return;
  if (text !== "") refuse("blankText", { root });
  if (block.cache_control !== undefined && block.cache_control !== null) {
    refuse("markOnEmptyText", { path: textPath() });
  }
  refuse("emptyText", { root });
}

function checkToolsGiven(messages: readonly SentMessage[], inspection: Inspection): void {
  const { request, switches } = inspection;
  if (!switches.requireTools || recordsField(request.body, "tools").length > 0) return;
  const hasToolBlock = messages.some(({ blocks }) =>
    blocks.some(({ type }) => type === "tool_use" || type === "tool_result"),
  );
  if (hasToolBlock) refuse("toolsMissing");
}

function checkMediaCount(messages: readonly SentMessage[], inspection: Inspection): void {
  const maximum = maxMediaFor(inspection.request.model?.windowTokens ?? 0);
  let images = 0;
  let documents = 0;
  const count = (type: unknown): void => {
    if (type === "image") images++;
    else if (type === "document") documents++;
  };
  for (const { blocks } of messages) {
    for (const { type, block } of blocks) {
      count(type);
      if (type === "tool_result") for (const nested of recordsField(block, "content")) count(nested.type);
    }
  }
  if (images + documents > maximum) refuse("tooManyMedia", { images, documents, maximum });
}

// Cache marks

/**
 * Checks all cache marks in prompt order: tools, system prompt, messages, then the automatic mark. Marks
 * inside a tool result come before the mark of the result.
 */
export function checkCacheMarks(messages: readonly SentMessage[], inspection: Inspection): void {
  const { body } = inspection.request;
  const marks = new MarkCounter();
  for (const [index, tool] of recordsField(body, "tools").entries())
    marks.visit(tool, () => `tools.${index}.`);
  for (const [index, block] of recordsField(body, "system").entries()) {
    marks.visit(block, () => `system.${index}.`);
  }
  for (const { blocks } of messages) {
    for (const placed of blocks) {
      const { type, block } = placed;
      if (type === "tool_result" && typeof block.content !== "string") {
        for (const [index, nested] of recordsField(block, "content").entries()) {
          marks.visit(nested, () => `${pathOf(placed)}.content.${index}.`);
        }
      }
      if (block.cache_control !== undefined) marks.visit(block, () => `${pathOf(placed)}.`);
    }
  }
  checkAutomaticMark(body, messages);
  marks.visit(body, () => "");
  if (marks.count > MAX_CACHE_MARKS) refuse("tooManyMarks", { maximum: MAX_CACHE_MARKS, count: marks.count });
}

class MarkCounter {
  count = 0;
  #hasShort = false;

  visit(holder: JsonRecord, prefixOf: () => string): void {
    const mark = holder.cache_control;
    if (mark === undefined || mark === null) return;
    this.count++;
    if (lifetime(mark as JsonRecord) === "5m") this.#hasShort = true;
    else if (this.#hasShort) refuse("ttlOrder", { path: `${prefixOf()}cache_control.ttl` });
  }
}

function lifetime(mark: JsonRecord): string {
  return mark.ttl === "1h" ? "1h" : "5m";
}

/**
 * Checks the automatic mark, which applies to the last block that can have a mark. Refuses it if this block
 * already has a mark with another lifetime.
 */
function checkAutomaticMark(body: JsonRecord, messages: readonly SentMessage[]): void {
  const automatic = recordField(body, "cache_control");
  if (automatic === undefined) return;
  const last = lastCacheable(messages);
  const mark = last === undefined ? undefined : recordField(last, "cache_control");
  if (mark !== undefined && lifetime(mark) !== lifetime(automatic)) refuse("automaticMarkTtl");
}

function lastCacheable(messages: readonly SentMessage[]): JsonRecord | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const found = messages[at]?.blocks.findLast(
      ({ type }) => type !== "thinking" && type !== "redacted_thinking",
    );
    if (found !== undefined) return found.block;
  }
  return undefined;
}
