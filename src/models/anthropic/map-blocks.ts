import type { ApiMessage, ContentBlock, MessageContent } from "../../conversation/message.ts";
import { isBlock } from "../../conversation/message.ts";
import { isRecord } from "../../conversation/untrusted.ts";
import type { ModelRequest } from "../port.ts";

/** Undefined leaves the block out. */
export type MapBlock = (block: ContentBlock) => ContentBlock | undefined;

/**
 * The request with every block of its messages mapped, those inside tool results too; the same object when none
 * changes. Messages that lose all of their blocks go too: an empty one would be refused.
 */
export function withBlocks(request: ModelRequest, map: MapBlock): ModelRequest {
  const messages = request.messages.flatMap((message): readonly ApiMessage[] => {
    if (!isRecord(message)) return [message];
    const content = mapContent(message.content, map);
    if (content === message.content) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  const isSame =
    messages.length === request.messages.length &&
    messages.every((message, index) => message === request.messages[index]);
  return isSame ? request : { ...request, messages };
}

export function mapContent(content: MessageContent, map: MapBlock): MessageContent {
  if (!Array.isArray(content)) return content;
  let isChanged = false;
  const blocks = content.flatMap((block): readonly ContentBlock[] => {
    if (!isBlock(block)) return [block];
    const mapped = map(withinResult(block, map));
    if (mapped !== block) isChanged = true;
    return mapped === undefined ? [] : [mapped];
  });
  return isChanged ? blocks : content;
}

function withinResult(block: ContentBlock, map: MapBlock): ContentBlock {
  if (block.type !== "tool_result" || block.content === undefined) return block;
  const content = mapContent(block.content, map);
  return content === block.content ? block : { ...block, content };
}
