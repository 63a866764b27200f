import { type Entry, isSynthetic } from "../../messages/entry.ts";
import type { ApiRequest, ContentBlock, MessageContent } from "../../messages/message.ts";
import { isBlock } from "../../messages/message.ts";
import { sentContent } from "../../request/flatten/attachment-content.ts";

/** Counts the tokens of a text, exactly or by estimate. */
export type CountText = (text: string) => number;

/**
 * Flat figure for images and documents. Providers bill images by area and documents by page. This figure is
 * high enough for most images and documents.
 */
export const MEDIA_TOKENS = 2_000;

/** Safety factor for decisions, such as when to compact. Never apply it to a number that people see. */
export const DECISION_PADDING: number = 4 / 3;

/**
 * Number of characters per token of encrypted thinking. Encrypted thinking is in redacted blocks and in the
 * signatures of empty blocks.
 */
const SIGNATURE_CHARACTERS_PER_TOKEN = 4;

export function measureContent(content: MessageContent | undefined, countText: CountText): number {
  if (typeof content === "string") return countText(content);
  if (!Array.isArray(content)) return 0;
  let tokens = 0;
  for (const block of content) if (isBlock(block)) tokens += measureBlock(block, countText);
  return tokens;
}

export function measureBlock(block: ContentBlock, countText: CountText): number {
  switch (block.type) {
    case "text":
      return countText(asText(block.text));
    case "image":
    case "document":
      return MEDIA_TOKENS;
    case "tool_use":
      return countText(asText(block.name)) + countText(asJson(block.input));
    case "tool_result":
      return measureContent(block.content, countText);
    case "thinking":
      return block.thinking
        ? countText(asText(block.thinking))
        : Math.ceil(asText(block.signature).length / SIGNATURE_CHARACTERS_PER_TOKEN);
    case "redacted_thinking":
      return Math.ceil(asText(block.data).length / SIGNATURE_CHARACTERS_PER_TOKEN);
    default:
      return countText(asJson(block));
  }
}

/** Counts the tokens that an entry adds to the context. Entries that are never sent count 0. */
export function measureEntry(entry: Entry, countText: CountText): number {
  switch (entry.type) {
    case "assistant":
      return isSynthetic(entry) ? 0 : measureContent(entry.message?.content, countText);
    case "user":
      return measureContent(entry.message?.content, countText);
    case "attachment":
      return measureContent(sentContent(entry), countText);
    default:
      return 0;
  }
}

export function measureEntries(entries: readonly Entry[], countText: CountText): number {
  let tokens = 0;
  for (const entry of entries) tokens += measureEntry(entry, countText);
  return tokens;
}

/** Counts the tokens of a whole request body: system prompt, tools and messages. */
export function measureRequest(
  { messages, system, tools }: Pick<ApiRequest, "messages" | "system" | "tools">,
  countText: CountText,
): number {
  let tokens = measureContent(system, countText);
  for (const tool of tools ?? []) tokens += countText(asJson(tool));
  for (const message of messages) tokens += measureContent(message.content, countText);
  return tokens;
}

const asText = (value: unknown): string => (typeof value === "string" ? value : "");
const asJson = (value: unknown): string => JSON.stringify(value) ?? "";
