import type { ContentBlock } from "../../../conversation/block.ts";
import { contentText, field, firstString, stringField } from "../../../conversation/fields.ts";

/**
 * What a block says, for a provider that has no form for it. What only its own provider could read
 * (encrypted content, signatures, raw data) is left out.
 */
export function blockAsText(block: ContentBlock): string {
  const type: string = block.type;
  switch (type) {
    case "tool_use":
      return `[Called ${stringField(block, "name") ?? "a tool"} with ${json(field(block, "input"))}]`;
    case "tool_result":
      return `[Result of a tool: ${contentText(field(block, "content"))}]`;
    case "compaction":
      return stringField(block, "content") ?? "";
    case "search_result": {
      const heading = [stringField(block, "title"), stringField(block, "source")].filter(Boolean).join(" – ");
      return `[Search result: ${heading}]\n${contentText(field(block, "content"))}`;
    }
    case "image":
    case "document":
      return mediaAsText(block);
    default:
      return `[${type}: ${json(block)}]`;
  }
}

/** Names a picture or document that cannot be sent itself. */
export function mediaAsText(block: ContentBlock): string {
  const source = field(block, "source");
  const name = firstString(block, "title") ?? firstString(source, "url", "file_id", "media_type");
  return name === undefined ? `[${block.type}]` : `[${block.type}: ${name}]`;
}

const UNREADABLE = /^encrypted_|^(signature|data|cache_control)$/;

const json = (value: unknown): string =>
  JSON.stringify(value, (key, inner: unknown) => (UNREADABLE.test(key) ? undefined : inner)) ?? "";
