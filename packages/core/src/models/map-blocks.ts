import { type ContentBlock, isBlock, type MessageContent, mapChanged } from "../messages/message.ts";
import { isRecord } from "../messages/untrusted.ts";
import type { ModelRequest } from "./port.ts";

/** Returns the new block, or undefined to remove the block. */
export type MapBlock = (block: ContentBlock) => ContentBlock | undefined;

/**
 * Maps every block of the messages, including blocks inside tool results. Returns the same object if nothing
 * changes. Removes messages that lose all their blocks, because the API rejects empty messages.
 */
export function withBlocks(request: ModelRequest, map: MapBlock): ModelRequest {
  const messages = mapChanged(request.messages, (message) => {
    if (!isRecord(message)) return message;
    const content = mapContent(message.content, map);
    if (content === message.content) return message;
    return content.length === 0 ? undefined : { ...message, content };
  });
  return messages === request.messages ? request : { ...request, messages };
}

export function mapContent(content: MessageContent, map: MapBlock): MessageContent {
  if (!Array.isArray(content)) return content;
  return mapChanged(content as readonly ContentBlock[], (block) =>
    isBlock(block) ? map(withinResult(block, map)) : block,
  );
}

function withinResult(block: ContentBlock, map: MapBlock): ContentBlock {
  if (block.type !== "tool_result" || block.content === undefined) return block;
  const content = mapContent(block.content, map);
  return content === block.content ? block : { ...block, content };
}
