import {
  contentBlocks,
  isBlock,
  isRecord,
  type JsonRecord,
  listField,
  tagOf,
} from "@longhaul/core/internal/messages";
import type { ApiMessage, ContentBlock, MessageContent } from "@longhaul/core/messages";

/** Parts of a request that the model sees. */
export interface Conversation {
  readonly messages: readonly ApiMessage[];
  readonly system: MessageContent | undefined;
  readonly tools: readonly JsonRecord[];
}

/**
 * Reads the conversation from a body. Returns the original arrays of the body if they have the expected
 * shape. Omits parts of another shape, which the rules refuse.
 */
export function readConversation(body: JsonRecord): Conversation {
  return {
    messages: readable(listField(body, "messages"), isMessage),
    system: readContent(body.system),
    tools: readable(listField(body, "tools"), isRecord),
  };
}

function readable<T>(list: readonly unknown[], isReadable: (value: unknown) => value is T): readonly T[] {
  return list.every(isReadable) ? list : list.filter(isReadable);
}

function isMessage(value: unknown): value is ApiMessage {
  if (!isRecord(value) || typeof value.role !== "string") return false;
  return Array.isArray(value.content) ? value.content.every(isBlock) : true;
}

const readContent = (value: unknown): MessageContent | undefined =>
  Array.isArray(value) ? readable(value, isBlock) : typeof value === "string" ? value : undefined;

/**
 * Keeps only the blocks for which the function returns true. Removes a message without such blocks, because
 * an empty message would be refused.
 */
export function keepBlocks(
  messages: readonly ApiMessage[],
  isKept: (block: ContentBlock, message: number, index: number) => boolean,
): readonly ApiMessage[] {
  return messages.flatMap((message, at) => {
    const blocks = contentBlocks(message.content);
    const content = blocks.filter((block, index) => isKept(block, at, index));
    if (content.length === blocks.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

/** Returns the position of a block in the request, in the form of error messages. */
export const blockPath = (message: number, block: number): string => `messages.${message}.content.${block}`;

/** A compaction block as a client sends it. Every field is unverified. */
export interface CompactionBlock {
  readonly content?: unknown;
  readonly signature?: unknown;
  readonly tool_changes?: unknown;
  readonly cache_control?: unknown;
}

export function asCompaction(block: ContentBlock): CompactionBlock | undefined {
  return tagOf(block) === "compaction" ? (block as CompactionBlock) : undefined;
}

/**
 * True for a block with content. A block without content marks a failed compaction, which the provider skips.
 */
export const hasSummary = (block: CompactionBlock): block is CompactionBlock & { readonly content: string } =>
  typeof block.content === "string" && block.content !== "";
