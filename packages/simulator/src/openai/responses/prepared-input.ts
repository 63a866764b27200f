import { asList, isRecord, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { TokenCounter } from "../../prompt/token-count.ts";
import { type OpenAiPrompt, type PromptPart, TOOLS_PLACE } from "../prompt/prompt-parts.ts";
import { fromLatestCompaction, itemType, withoutReferences } from "./input-items.ts";
import { type SealedTexts, type SeenConversation, seenConversation } from "./seen-messages.ts";
import { type SeenTools, seenTools } from "./seen-tools.ts";

/** Input of a call as the model sees it. */
export interface PreparedInput {
  /** Items that the model sees, oldest first. */
  readonly items: readonly JsonRecord[];
  readonly conversation: SeenConversation;
  readonly tools: SeenTools;
  readonly prompt: OpenAiPrompt;
}

export interface InputReaders {
  readonly sealed: SealedTexts;
  count(parts: readonly PromptPart[]): OpenAiPrompt;
}

/** Tokens of the markup around an item: its role and its borders. */
const ITEM_TOKENS = 3;

/** Returns the items that the model sees: references are resolved, and the latest compaction replaces older items. */
export const visibleItems = (
  items: readonly JsonRecord[],
  findItem: (id: string) => JsonRecord | undefined,
): readonly JsonRecord[] => fromLatestCompaction(withoutReferences(items, findItem));

/** Prepares exactly these items for the model. */
export function prepareInput(
  body: JsonRecord,
  items: readonly JsonRecord[],
  { sealed, count }: InputReaders,
): PreparedInput {
  return {
    items,
    conversation: seenConversation(body.instructions, items, sealed),
    tools: seenTools(body.tools, items),
    prompt: count([...frameParts(body), ...items.flatMap((item) => itemParts(item, sealed))]),
  };
}

/**
 * Drops items from the start until the input fits the limit, as `truncation: "auto"` asks. An output goes
 * together with its call. The last item stays in any case.
 */
export function truncated(
  body: JsonRecord,
  input: PreparedInput,
  limitTokens: number,
  readers: InputReaders,
): PreparedInput {
  let excess = input.prompt.tokens - limitTokens;
  if (excess <= 0) return input;
  const sizes = itemSizes(body, input, readers.sealed);
  const dropped = new Set<string>();
  const kept = input.items.filter((item, index) => {
    const callId = stringField(item, "call_id");
    const isOrphan = callId !== undefined && dropped.has(callId) && itemType(item).endsWith("_output");
    if ((excess <= 0 && !isOrphan) || index === input.items.length - 1) return true;
    excess -= sizes[index] ?? 0;
    if (callId !== undefined) dropped.add(callId);
    return false;
  });
  return prepareInput(body, kept, readers);
}

/** Returns the tokens of each item. */
function itemSizes(
  body: JsonRecord,
  { items, prompt }: PreparedInput,
  sealed: SealedTexts,
): readonly number[] {
  let at = frameParts(body).length - 1;
  return items.map((item) => {
    const before = prompt.positions[at]?.tokens ?? 0;
    at += itemParts(item, sealed).length;
    return (prompt.positions[at]?.tokens ?? before) - before;
  });
}

/** Parts of a prompt before the items: the tools, the output format and the instructions. */
function frameParts({ tools, text, instructions }: JsonRecord): readonly PromptPart[] {
  const parts = asList(tools).map(
    (tool): PromptPart => ({ place: TOOLS_PLACE, value: tool, count: (counter) => countTool(tool, counter) }),
  );
  const format = isRecord(text) ? text.format : undefined;
  if (isRecord(format) && format.type === "json_schema")
    parts.push({
      place: "format",
      value: format,
      count: (counter) => ITEM_TOKENS + counter.text(JSON.stringify(format.schema) ?? ""),
    });
  if (typeof instructions === "string" && instructions !== "")
    parts.push({
      place: "instructions",
      value: instructions,
      count: (counter) => ITEM_TOKENS + counter.text(instructions),
    });
  return parts;
}

const countTool = (tool: unknown, counter: TokenCounter): number =>
  counter.tool({ ...(isRecord(tool) ? tool : {}), type: countedType(tool) });

/** Tools that the client describes count with their text. The counter knows them under the name of one type. */
function countedType(tool: unknown): string {
  const type = stringField(tool, "type") ?? "function";
  return type === "function" || type === "namespace" ? "custom" : type;
}

/**
 * Returns the parts of an item. A message has a part for each of its contents, because each can end a cached
 * prefix. Ids are not part of the prompt.
 */
function itemParts(item: JsonRecord, sealed: SealedTexts): readonly PromptPart[] {
  const { id: _, status: _status, ...value } = item;
  if (itemType(item) !== "message" || !Array.isArray(item.content)) {
    const place = itemType(item) === "message" ? `message/${String(item.role)}` : itemType(item);
    const shown = typeof item.content === "string" ? item.content : value;
    return [{ place, value: shown, count: (counter) => ITEM_TOKENS + countItem(item, sealed, counter) }];
  }
  return item.content.map((part, index): PromptPart => {
    const only = { type: "message", role: item.role, content: [part] };
    const markup = index === 0 ? ITEM_TOKENS : 0;
    return {
      place: index === 0 ? `message/${String(item.role)}` : "content",
      value: typeof part?.text === "string" && part.prompt_cache_breakpoint === undefined ? part.text : part,
      isBreakpoint: isRecord(part) && isRecord(part.prompt_cache_breakpoint),
      count: (counter) => markup + countItem(only, sealed, counter),
    };
  });
}

function countItem(item: JsonRecord, sealed: SealedTexts, counter: TokenCounter): number {
  const { system, messages } = seenConversation(undefined, [item], sealed);
  let tokens = counter.text(system);
  // Items that add tools in the middle of a conversation.
  for (const tool of asList(item.tools)) tokens += countTool(tool, counter);
  for (const { content } of messages) {
    if (typeof content === "string") tokens += counter.text(content);
    else for (const block of content) tokens += counter.block({ ...block });
  }
  return tokens;
}
