import { isRecord } from "./untrusted.ts";

/**
 * Content blocks as the Messages API has them. The union is closed over the kinds we act on; every
 * other kind is an {@link OpaqueBlock}, which no code of ours looks into and which leaves as it came.
 */

/**
 * Stands for every tag we do not know. At run time it is whatever string the provider sent; to the
 * compiler it is one literal, so that `block.type === "text"` narrows to the known kind alone.
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

/** No `cache_control`: the API refuses a mark on thinking. */
export interface ThinkingBlock {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature: string;
}

export interface RedactedThinkingBlock {
  readonly type: "redacted_thinking";
  readonly data: string;
}

/** `data` for base64 (and plain text documents), `url` or `file_id` for media that lives elsewhere. */
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

/** The API refuses a text of nothing but whitespace. */
export function isBlankText(block: ContentBlock): block is TextBlock {
  return block.type === "text" && typeof block.text === "string" && block.text.trim() === "";
}

export function isMedia(block: ContentBlock): block is ImageBlock | DocumentBlock {
  return block.type === "image" || block.type === "document";
}

/** The tag as the provider sent it, for comparing with kinds that the union does not name. */
export function tagOf(block: ContentBlock): string {
  return block.type;
}

/** Text alone is one text block; nothing at all is none. */
export function contentBlocks(content: MessageContent | undefined): readonly ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : [];
}

export function hasNestedBlocks(
  block: ContentBlock,
): block is ToolResultBlock & { readonly content: readonly ContentBlock[] } {
  return block.type === "tool_result" && Array.isArray(block.content);
}

/** Applies the rewrite to the blocks inside a tool result; any other block has none. */
export function rewriteNested(
  block: ContentBlock,
  rewrite: (nested: ContentBlock, index: number) => ContentBlock | undefined,
): ContentBlock {
  if (!hasNestedBlocks(block)) return block;
  const content = mapChanged(block.content, rewrite);
  return content === block.content ? block : { ...block, content };
}

/** Makes a new list only from the first change on: most lists of most conversations have none. Undefined leaves out. */
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

/** A message as it is sent: what `flatten` makes of entries. */
export interface ApiMessage {
  readonly role: "user" | "assistant" | "system";
  readonly content: MessageContent;
}

/** The versions of the API that `anthropic-version` names. */
export type ApiVersion = "2023-06-01" | "2026-10-21";

/** The parts of a request body that the API's rules for messages look at; all other fields pass through. */
export interface ApiRequest {
  readonly messages: readonly ApiMessage[];
  readonly model?: string;
  readonly max_tokens?: number;
  readonly system?: MessageContent;
  readonly tools?: readonly unknown[];
  readonly thinking?: { readonly type: string };
  readonly cache_control?: unknown;
}

/** A tool as the request defines it. The checker reads only its name and its schema. */
export interface ToolSchema {
  readonly name: string;
  readonly input_schema?: unknown;
}
