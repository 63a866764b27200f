import type { ContentBlock, ThinkingBlock } from "../../../conversation/message.ts";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { field, stringField } from "../../../conversation/untrusted.ts";
import { callInput } from "../../call-input.ts";
import type { Dialect } from "../dialect.ts";
import { missedMetadata, packMemory } from "../provider-memory.ts";

/** A text in the canonical form; a summary of the provider's own comes as text with a note. */
export function textBlock(text: string, metadata: unknown): ContentBlock {
  const anthropic = field(metadata, "anthropic");
  if (stringField(anthropic, "type") === "compaction") {
    const signature = stringField(anthropic, "signature");
    const block = { type: "compaction", content: text, ...(signature === undefined ? {} : { signature }) };
    return block as unknown as ContentBlock;
  }
  const citations = field(anthropic, "citations");
  return { type: "text", text, ...(Array.isArray(citations) && citations.length > 0 ? { citations } : {}) };
}

export function thinkingBlock(thinking: string, metadata: JsonRecord, dialect: Dialect): ContentBlock {
  if (dialect.flavour !== "anthropic") {
    return { type: "thinking", thinking, signature: packMemory({ maker: dialect.namespace, metadata }) };
  }
  const anthropic = metadata.anthropic;
  const data = stringField(anthropic, "redactedData");
  if (data !== undefined) return { type: "redacted_thinking", data };
  return { type: "thinking", thinking, signature: stringField(anthropic, "signature") ?? "" };
}

/** Holds what the block after it must bring back to its provider. Nothing, for most. */
export function carrierBlock(metadata: unknown, dialect: Dialect): ThinkingBlock | undefined {
  const missed = missedMetadata(metadata);
  if (missed === undefined || dialect.flavour === "anthropic") return undefined;
  const memory = { maker: dialect.namespace, metadata: missed, isForNext: true };
  return { type: "thinking", thinking: "", signature: packMemory(memory) };
}

/** A picture that the model made. */
export function fileBlock(file: unknown): ContentBlock | undefined {
  const data = stringField(file, "base64");
  if (data === undefined) return undefined;
  const mediaType = stringField(file, "mediaType") ?? "application/octet-stream";
  const type = mediaType.startsWith("image/") ? "image" : "document";
  return { type, source: { type: "base64", media_type: mediaType, data } };
}

/** A call that the provider made and answered itself. */
export function serverCallBlock(part: JsonRecord, id: string): ContentBlock {
  const block = { type: "server_tool_use", id, name: part.toolName, input: callInput(part.input) };
  return block as unknown as ContentBlock;
}

export function serverResultBlock(part: JsonRecord, id: string): ContentBlock {
  const content = part.type === "tool-error" ? { error: String(part.error) } : part.output;
  return {
    type: `${String(part.toolName)}_tool_result`,
    tool_use_id: id,
    content,
  } as unknown as ContentBlock;
}
