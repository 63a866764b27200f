import type { ApiMessage } from "../message.ts";
import { type ContentBlock, isBlock, tagOf } from "../message.ts";
import { field, isRecord, type JsonRecord } from "../untrusted.ts";
import { type Draft, type DraftMessage, type Origin, type Part, textPart } from "./draft.ts";

/** What is not a message at all cannot be sent; what is one but badly made is put right as far as it goes. */
export function readMessages(draft: Draft, messages: unknown, from = 0): readonly DraftMessage[] {
  if (!Array.isArray(messages)) return [];
  const read: DraftMessage[] = [];
  for (let index = from; index < messages.length; index++) {
    const message: unknown = messages[index];
    const at = { message: index };
    if (isRecord(message)) read.push(readMessage(draft, message, at));
    else {
      const text = "This element of messages is not an object and was left out.";
      draft.report({ rule: "message-shape", at, message: text, action: "dropped" });
    }
  }
  return read;
}

function readMessage(draft: Draft, message: JsonRecord, at: Origin): DraftMessage {
  const { role } = message;
  // A system message may do without: it can set the effort alone.
  const content = role === "system" && message.content === undefined ? [] : message.content;
  const parts = readParts(draft, content, at);
  const source = message as unknown as ApiMessage;
  const sourceBlocks = intactBlocks(content, parts);
  if (role === "user" || role === "assistant" || role === "system") {
    return { role, parts, origin: at, source, sourceBlocks };
  }
  const text = "The role is none that the API knows; the message is sent as the user's.";
  const detail = { role: typeof role === "string" ? role : typeof role };
  draft.report({ rule: "role-unknown", at, message: text, action: "rewritten", detail });
  return { role: "user", parts, origin: at, source, sourceBlocks };
}

/** The blocks under which the content can be recognised as unchanged later, if it needed no mending. */
export function intactBlocks(content: unknown, parts: readonly Part[]): readonly ContentBlock[] | undefined {
  if (typeof content === "string") return parts.map((part) => part.block);
  if (!Array.isArray(content) || content.length !== parts.length) return undefined;
  return parts.every((part, at) => part.block === content[at]) ? content : undefined;
}

export function readParts(draft: Draft, content: unknown, at: Origin): readonly Part[] {
  if (content === "") return [];
  if (typeof content === "string") return [textPart(content, at)];
  if (Array.isArray(content)) {
    const parts: Part[] = [];
    for (const [index, item] of content.entries()) {
      const origin = { message: at.message, index };
      const block = readBlock(draft, item, origin);
      if (block !== undefined) parts.push({ block, origin });
    }
    return parts;
  }
  if (isBlock(content)) {
    reportShape(draft, at, "The content is a single block outside a list; it was put into one.", "rewritten");
    const block = readBlock(draft, content, at);
    return block === undefined ? [] : [{ block, origin: at }];
  }
  reportShape(draft, at, "The content is neither text nor a list of blocks and counts as empty.", "dropped");
  return [];
}

function readBlock(draft: Draft, item: unknown, origin: Origin): ContentBlock | undefined {
  if (typeof item === "string") {
    reportShape(draft, origin, "A bare string stands among the blocks; it became a text block.", "rewritten");
    return { type: "text", text: item };
  }
  if (!isBlock(item)) {
    reportShape(draft, origin, "This block is not an object with a type and was left out.", "dropped");
    return undefined;
  }
  if (isUnreadable(item)) {
    const text = `This ${item.type} block lacks the fields that make it one and was left out.`;
    reportShape(draft, origin, text, "dropped");
    return undefined;
  }
  return item.type === "tool_result" ? readToolResult(draft, item, origin) : item;
}

/** Thinking without a signature is refused by the API, and a signature cannot be made up. */
function isUnreadable(block: ContentBlock): boolean {
  if (block.type === "text") return typeof block.text !== "string";
  if (block.type === "thinking") {
    return typeof block.thinking !== "string" || typeof block.signature !== "string";
  }
  if (block.type === "redacted_thinking") return typeof block.data !== "string";
  return tagOf(block) === "compaction" && !isCompactionContent(field(block, "content"));
}

/** None is a compaction that failed, which may be sent; an empty summary may not. */
function isCompactionContent(content: unknown): boolean {
  return content === undefined || content === null || (typeof content === "string" && content !== "");
}

function readToolResult(
  draft: Draft,
  block: Extract<ContentBlock, { type: "tool_result" }>,
  origin: Origin,
): ContentBlock {
  const content: unknown = block.content;
  if (content === undefined || typeof content === "string") return block;
  if (!Array.isArray(content)) {
    reportShape(draft, origin, "The tool result's content was neither text nor a list.", "rewritten");
    const { content: _, ...rest } = block;
    return content === null ? rest : { ...rest, content: plainText(content) };
  }
  if (content.every((item) => isBlock(item) && !isUnreadable(item))) return block;
  reportShape(draft, origin, "The tool result held items that are no blocks; they became text.", "rewritten");
  const items = content.flatMap((item): ContentBlock[] => {
    if (isBlock(item) && !isUnreadable(item)) return [item];
    return item === null || item === undefined ? [] : [{ type: "text", text: plainText(item) }];
  });
  return { ...block, content: items };
}

function plainText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function reportShape(draft: Draft, at: Origin, message: string, action: "dropped" | "rewritten"): void {
  draft.report({ rule: "block-shape", at, message, action });
}
