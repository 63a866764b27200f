import { type ContentBlock, isMedia, isThinking } from "../../block.ts";
import { addedMessage, type Draft, type DraftMessage, type Part } from "../draft.ts";
import { toolResultAsContent } from "../result-text.ts";
import { serverToolResult, serverToolUse } from "../server-tools.ts";
import { mediaMarker } from "./media-marker.ts";

const RESULT_LABEL = "[Result of a tool call]";

/** Some kinds of block belong to one role only: calls and thinking to the assistant, results to the user. */
export function keepBlocksInTheirRole(draft: Draft): void {
  const messages: DraftMessage[] = [];
  for (const message of draft.messages) {
    messages.push(message);
    if (message.role !== "assistant") mendUserMessage(draft, message);
    else {
      const results = mendAssistantMessage(draft, message);
      if (results.length > 0) messages.push(addedMessage("user", results, message.origin));
    }
  }
  if (messages.length !== draft.messages.length) draft.messages = messages;
}

/** Returns the tool results, which go into a user message of their own. */
function mendAssistantMessage(draft: Draft, message: DraftMessage): readonly Part[] {
  if (!message.parts.some(({ block }) => block.type === "tool_result" || isMedia(block))) return [];
  const results: Part[] = [];
  const parts: Part[] = [];
  for (const part of message.parts) {
    const { block, origin } = part;
    if (block.type === "tool_result") {
      results.push(part);
      const text = "A tool result stands in an assistant message; it moved to the user message after it.";
      draft.report({ rule: "block-in-wrong-role", at: origin, message: text, action: "moved" });
    } else if (isMedia(block)) {
      parts.push({ block: mediaMarker(block), origin });
      const text = `An assistant message cannot hold a block of type ${block.type}; a marker stands for it.`;
      draft.report({ rule: "media-in-assistant", at: origin, message: text, action: "replaced-by-text" });
    } else parts.push(part);
  }
  message.parts = parts;
  return results;
}

function mendUserMessage(draft: Draft, message: DraftMessage): void {
  if (!message.parts.some((part) => isForeign(part.block, message.role))) return;
  message.parts = message.parts.flatMap((part) => {
    const { block, origin } = part;
    if (!isForeign(block, message.role)) return [part];
    if (isThinking(block)) {
      const text = `Thinking belongs to the assistant and was left out of this ${message.role} message.`;
      draft.report({ rule: "thinking-in-wrong-role", at: origin, message: text, action: "dropped" });
      return [];
    }
    const text = `A ${message.role} message cannot hold a block of type ${block.type}; it is sent as text.`;
    draft.report({ rule: "block-in-wrong-role", at: origin, message: text, action: "replaced-by-text" });
    return asText(block).map((replacement) => ({ block: replacement, origin }));
  });
}

function isForeign(block: ContentBlock, role: DraftMessage["role"]): boolean {
  if (isThinking(block) || block.type === "tool_use") return true;
  if (block.type === "tool_result") return role === "system";
  return serverToolUse(block) !== undefined || serverToolResult(block) !== undefined;
}

function asText(block: ContentBlock): readonly ContentBlock[] {
  if (block.type === "tool_result") return toolResultAsContent(block, RESULT_LABEL);
  return [{ type: "text", text: JSON.stringify(block) }];
}
