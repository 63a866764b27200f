import type { ContentBlock, ToolResultBlock } from "../message.ts";

/**
 * What a tool result said, as user content, for when it can no longer be sent as a result. Media keep
 * their form; kinds that are only allowed inside a result become their JSON. Empty when it said nothing.
 */
export function toolResultAsContent(block: ToolResultBlock, label: string): readonly ContentBlock[] {
  const { content } = block;
  if (content === undefined) return [];
  if (typeof content === "string") {
    return content.trim() === "" ? [] : [{ type: "text", text: `${label}\n${content}` }];
  }
  const kept = content.flatMap((nested): ContentBlock[] => {
    if (nested.type === "text") return nested.text.trim() === "" ? [] : [nested];
    if (nested.type === "image" || nested.type === "document") return [nested];
    return [{ type: "text", text: JSON.stringify(nested) }];
  });
  return kept.length === 0 ? [] : [{ type: "text", text: label }, ...kept];
}
