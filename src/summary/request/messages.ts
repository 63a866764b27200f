import { type ContentBlock, isMedia, isThinking, type MessageContent } from "../../conversation/block.ts";
import type { Entry } from "../../conversation/entry.ts";
import { flatten } from "../../conversation/flatten/flatten.ts";
import type { ApiMessage } from "../../conversation/message.ts";
import { isEntry } from "../../conversation/untrusted.ts";
import type { ToolDefinition } from "../../models/port.ts";

/** Attachments that come back by themselves after a compaction: a summary of them would be pure cost. */
const ATTACHED_AGAIN: ReadonlySet<string> = new Set(["skill_listing", "skill_discovery", "invoked_skills"]);

/**
 * A conversation as a summariser gets it in a call of its own: pictures and documents as marks, and no
 * thinking, which would be refused after a changed history and tells nothing that the answers do not.
 */
export function messagesToSummarise(
  entries: readonly Entry[],
  clearedToolUseIds: ReadonlySet<string> = new Set(),
): readonly ApiMessage[] {
  const told = entries.filter(
    (entry) => isEntry(entry) && !(entry.type === "attachment" && ATTACHED_AGAIN.has(entry.attachment?.type)),
  );
  return flatten(told, { clearedToolUseIds }).flatMap((message) => {
    const content =
      message.role === "user" ? withoutMedia(message.content) : withoutThinking(message.content);
    if (content === message.content) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function withoutMedia(content: MessageContent): MessageContent {
  if (typeof content === "string" || !content.some(holdsMedia)) return content;
  return content.map(markFor);
}

function holdsMedia(block: ContentBlock): boolean {
  if (isMedia(block)) return true;
  return block.type === "tool_result" && Array.isArray(block.content) && block.content.some(holdsMedia);
}

function markFor(block: ContentBlock): ContentBlock {
  if (isMedia(block)) return { type: "text", text: `[${block.type}]` };
  if (block.type !== "tool_result" || !Array.isArray(block.content) || !holdsMedia(block)) return block;
  return { ...block, content: block.content.map(markFor) };
}

function withoutThinking(content: MessageContent): MessageContent {
  if (typeof content === "string" || !content.some(isThinking)) return content;
  return content.filter((block) => !isThinking(block));
}

/** Some models refuse tool blocks in a request that defines no tools. */
export function toolsUsedIn(messages: readonly ApiMessage[]): readonly ToolDefinition[] {
  const names = new Set<string>();
  for (const { content } of messages) {
    if (typeof content === "string") continue;
    for (const block of content) if (block.type === "tool_use") names.add(block.name);
  }
  return [...names].sort().map((name) => ({ name, input_schema: { type: "object" } }));
}
