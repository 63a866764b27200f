import type { ContentBlock } from "../../../conversation/message.ts";
import { isBlock } from "../../../conversation/message.ts";
import { asList, field, firstString, stringField } from "../../../conversation/untrusted.ts";

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
      return `[Result of a tool: ${contentAsText(field(block, "content"))}]`;
    case "compaction":
      return stringField(block, "content") ?? "";
    case "search_result": {
      const heading = [stringField(block, "title"), stringField(block, "source")].filter(Boolean).join(" – ");
      return `[Search result: ${heading}]\n${contentAsText(field(block, "content"))}`;
    }
    case "text":
      return stringField(block, "text") ?? "";
    case "image":
      return mediaAsText(block);
    case "document":
      return documentText(block) ?? mediaAsText(block);
    default:
      return `[${type}: ${json(block)}]`;
  }
}

function contentAsText(content: unknown): string {
  if (typeof content === "string") return content;
  return asList(content).filter(isBlock).map(blockAsText).join("\n");
}

/** The text of a document that holds some, under its title and context. */
export function documentText(block: ContentBlock): string | undefined {
  const source = field(block, "source");
  const kind = stringField(source, "type");
  if (kind !== "text" && kind !== "content") return undefined;
  const text = kind === "text" ? stringField(source, "data") : contentAsText(field(source, "content"));
  const lines = [stringField(block, "title"), stringField(block, "context"), text];
  return lines.filter((line) => line !== undefined && line !== "").join("\n\n");
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
