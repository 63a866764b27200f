import { type ContentBlock, isBlock, type MessageContent, mapChanged } from "../messages/message.ts";
import { isRecord } from "../messages/untrusted.ts";
import type { ModelRequest } from "./port.ts";

/** Undefined leaves the block out. */
export type MapBlock = (block: ContentBlock) => ContentBlock | undefined;

/**
 * The request with every block of its messages mapped, those inside tool results too; the same object when none
 * changes. Messages that lose all of their blocks go too: an empty one would be refused.
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
