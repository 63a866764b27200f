import type { Entry } from "@longhaul/core";

/**
 * Returns the text of a recorded entry, in which test data mark passages by character spans. The text of a
 * message is its blocks joined by "\n": the text of a text block, the input of a tool call as JSON, and the
 * content of a tool result, whose text blocks are joined by "\n" too. Other blocks have no text, so thinking and
 * images do not count. The text of a queued message is its prompt.
 */
export function recordedText(entry: Entry): string {
  const content: unknown = (entry as { message?: { content?: unknown } }).message?.content;
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return joined(content.map(blockText));
  const prompt = (entry as { attachment?: { prompt?: unknown } }).attachment?.prompt;
  return typeof prompt === "string" ? prompt : "";
}

interface Block {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly input?: unknown;
  readonly content?: unknown;
}

function blockText(block: Block): string | undefined {
  if (block.type === "text" && typeof block.text === "string") return block.text;
  if (block.type === "tool_use") return JSON.stringify(block.input);
  if (block.type !== "tool_result") return undefined;
  const { content } = block;
  return Array.isArray(content) ? joined(content.map(blockText)) : String(content ?? "");
}

function joined(texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join("\n");
}
