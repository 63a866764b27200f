import { isRecord } from "./untrusted.ts";

/**
 * Content blocks of the Messages API. The union lists the types that we handle. Every other type is an {@link
 * OpaqueBlock}, which we never inspect and always pass on unchanged.
 */

/**
 * Tag of all block types that we do not know. At run time it is the provider's string. For the compiler it is
 * one literal, so that `block.type === "text"` narrows to the known type.
 */
export type OpaqueTag = "(any other)";

export interface CacheControl {
  readonly type: "ephemeral";
  readonly ttl?: "5m" | "1h";
}

interface Cacheable {
  readonly cache_control?: CacheControl | null;
}

export interface TextBlock extends Cacheable {
  readonly type: "text";
  readonly text: string;
  readonly citations?: unknown;
}

export interface ToolUseBlock extends Cacheable {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ToolResultBlock extends Cacheable {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  readonly content?: string | readonly ContentBlock[];
  readonly is_error?: boolean;
}

/** A thinking block. It has no `cache_control`, because the API refuses cache marks on thinking. */
export interface ThinkingBlock {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature: string;
}

export interface RedactedThinkingBlock {
  readonly type: "redacted_thinking";
  readonly data: string;
}

/** Source of an image or document: `data` for base64 and plain text, `url` or `file_id` for remote media. */
export interface MediaSource {
  readonly type: string;
  readonly media_type?: string;
  readonly data?: string;
  readonly url?: string;
  readonly file_id?: string;
}

export interface ImageBlock extends Cacheable {
  readonly type: "image";
  readonly source: MediaSource;
}

export interface DocumentBlock extends Cacheable {
  readonly type: "document";
  readonly source: MediaSource;
  readonly title?: string | null;
}

export interface OpaqueBlock {
  readonly type: OpaqueTag;
  readonly [field: string]: unknown;
}

export type ContentBlock =
  | TextBlock
  | ToolUseBlock
  | ToolResultBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ImageBlock
  | DocumentBlock
  | OpaqueBlock;

export type MessageContent = string | readonly ContentBlock[];

export function isBlock(value: unknown): value is ContentBlock {
  return isRecord(value) && typeof value.type === "string";
}

export function isThinking(block: ContentBlock): block is ThinkingBlock | RedactedThinkingBlock {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

/** Returns true for a text that is only whitespace, which the API refuses. */
export function isBlankText(block: ContentBlock): block is TextBlock {
  return block.type === "text" && typeof block.text === "string" && block.text.trim() === "";
}

export function isMedia(block: ContentBlock): block is ImageBlock | DocumentBlock {
  return block.type === "image" || block.type === "document";
}

/**
 * Returns the type of a block as the provider wrote it, to compare it with types that the union does not
 * name.
 */
export function tagOf(block: ContentBlock): string {
  return block.type;
}

/** Converts a string to one text block, and undefined to no blocks. */
export function contentBlocks(content: MessageContent | undefined): readonly ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : [];
}

export function hasNestedBlocks(
  block: ContentBlock,
): block is ToolResultBlock & { readonly content: readonly ContentBlock[] } {
  return block.type === "tool_result" && Array.isArray(block.content);
}

/** Rewrites the blocks inside a tool result. Other blocks have no nested blocks. */
export function rewriteNested(
  block: ContentBlock,
  rewrite: (nested: ContentBlock, index: number) => ContentBlock | undefined,
): ContentBlock {
  if (!hasNestedBlocks(block)) return block;
  const content = mapChanged(block.content, rewrite);
  return content === block.content ? block : { ...block, content };
}

/**
 * Maps the items of a list, and returns the same list if no item changes. A result of undefined removes the
 * item.
 */
export function mapChanged<T>(
  list: readonly T[],
  map: (item: T, index: number) => T | undefined,
): readonly T[] {
  let changed: T[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = list[index] as T;
    const after = map(item, index);
    if (changed === undefined) {
      if (after === item) continue;
      changed = list.slice(0, index);
    }
    if (after !== undefined) changed.push(after);
  }
  return changed ?? list;
}

/** A message in the form to send. `flatten` creates it from entries. */
export interface ApiMessage {
  readonly role: "user" | "assistant" | "system";
  readonly content: MessageContent;
}

/** Values of the `anthropic-version` header. */
export type ApiVersion = "2023-06-01" | "2026-10-21";

/** The parts of a request body that the message rules check. All other fields pass through. */
export interface ApiRequest {
  readonly messages: readonly ApiMessage[];
  readonly model?: string;
  readonly max_tokens?: number;
  readonly system?: MessageContent;
  readonly tools?: readonly unknown[];
  readonly thinking?: { readonly type: string };
  readonly cache_control?: unknown;
}

/** A tool definition in a request. The checker reads only its name and schema. */
export interface ToolSchema {
  readonly name: string;
  readonly input_schema?: unknown;
}
