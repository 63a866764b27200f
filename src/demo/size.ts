import type { ContentBlock, MessageContent } from "../conversation/message.ts";
import { estimateTokens } from "../tokens/estimate/estimate.ts";

/** Markers around each block. */
const TOKENS_PER_BLOCK = 6;
/** Both pictures of the demo are 400 × 300; the provider takes width × height / 750. */
const TOKENS_PER_IMAGE = 160;

/** What the imagined provider counts. */
export const textTokens = (text: string): number => estimateTokens(text, "claude");

export function contentTokens(content: MessageContent): number {
  if (typeof content === "string") return textTokens(content) + TOKENS_PER_BLOCK;
  return content.reduce((sum, block) => sum + blockTokens(block), 0);
}

export function blockTokens(block: ContentBlock): number {
  return TOKENS_PER_BLOCK + innerTokens(block);
}

function innerTokens(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return textTokens(block.text);
    case "thinking":
      return textTokens(block.thinking);
    case "tool_use":
      return textTokens(block.name) + textTokens(JSON.stringify(block.input));
    case "tool_result":
      return contentTokens(block.content ?? "");
    case "image":
      return TOKENS_PER_IMAGE;
    default:
      return textTokens(JSON.stringify(block));
  }
}
