import { mapChanged, rewriteNested } from "../../conversation/check/rewrite.ts";
import { mediaMarker } from "../../conversation/check/rules/media-marker.ts";
import type { Entry } from "../../conversation/entry.ts";
import { isEntry } from "../../conversation/entry.ts";
import { flatten } from "../../conversation/flatten/flatten.ts";
import type { ApiMessage } from "../../conversation/message.ts";
import { type ContentBlock, isMedia, type MessageContent } from "../../conversation/message.ts";
import { contentWithoutThinking } from "../../conversation/without-thinking.ts";
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
      message.role === "user" ? withoutMedia(message.content) : contentWithoutThinking(message.content);
    if (content === message.content) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function withoutMedia(content: MessageContent): MessageContent {
  return typeof content === "string" ? content : mapChanged(content, markMedia);
}

const markMedia = (block: ContentBlock): ContentBlock =>
  isMedia(block) ? mediaMarker(block) : rewriteNested(block, markMedia);

/** Some models refuse tool blocks in a request that defines no tools. */
export function toolsUsedIn(messages: readonly ApiMessage[]): readonly ToolDefinition[] {
  const names = new Set<string>();
  for (const { content } of messages) {
    if (typeof content === "string") continue;
    for (const block of content) if (block.type === "tool_use") names.add(block.name);
  }
  return [...names].sort().map((name) => ({ name, input_schema: { type: "object" } }));
}
