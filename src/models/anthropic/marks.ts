import type { ApiMessage, ContentBlock, MessageContent } from "../../conversation/message.ts";
import { isBlock } from "../../conversation/message.ts";
import { asList, field, isRecord, type JsonRecord, listField } from "../../conversation/untrusted.ts";
import type { ModelRequest } from "../port.ts";

export interface FoundMark {
  readonly ttl: "5m" | "1h";
  /** Its place in the order of the prefix: tools, then system, then messages, blocks inside results too. */
  readonly place: Place;
}

/** Section (0 tools, 1 system, 2 messages), then index in it, then block, then block inside a result. */
export type Place = readonly [section: number, index: number, block: number, inner: number];

export function findMarks(request: ModelRequest): readonly FoundMark[] {
  const found: FoundMark[] = [];
  const look = (value: unknown, place: Place): void => {
    const mark = field(value, "cache_control");
    if (isRecord(mark)) found.push({ ttl: ttlOf(mark), place });
  };
  for (const [index, tool] of (request.tools ?? []).entries()) look(tool, [0, index, 0, 0]);
  for (const [index, block] of asList(request.system).entries()) look(block, [1, index, 0, 0]);
  for (const [index, message] of request.messages.entries()) {
    for (const [blockIndex, block] of listField(message, "content").entries()) {
      // A result's own mark comes after those of the blocks in it.
      const inner = listField(block, "content");
      for (const [innerIndex, item] of inner.entries()) look(item, [2, index, blockIndex, innerIndex]);
      look(block, [2, index, blockIndex, inner.length]);
    }
  }
  return found;
}

export const ttlOf = (mark: unknown): FoundMark["ttl"] => (field(mark, "ttl") === "1h" ? "1h" : "5m");

export function isBefore(one: Place, other: Place): boolean {
  for (const [level, step] of one.entries()) if (step !== other[level]) return step < (other[level] ?? 0);
  return false;
}

/** Without the one mark at a place in the messages. */
export function withoutMarkAt(request: ModelRequest, [, index, at, inner]: Place): ModelRequest {
  const messages = request.messages.map((message, position): ApiMessage => {
    if (position !== index || !Array.isArray(message.content)) return message;
    const content = message.content.map((block: ContentBlock, blockIndex): ContentBlock => {
      if (blockIndex !== at) return block;
      const nested = listField(block, "content");
      if (inner >= nested.length) return unmarked(block);
      const items = nested.map((item, place) => (place === inner && isBlock(item) ? unmarked(item) : item));
      return { ...block, content: items } as ContentBlock;
    });
    return { ...message, content };
  });
  return { ...request, messages };
}

/** For servers that refuse marks; the same object when there are none. */
export function withoutMarks(request: ModelRequest): ModelRequest {
  if (findMarks(request).length === 0 && request.cache_control === undefined) return request;
  const { cache_control: _, ...rest } = request;
  return {
    ...rest,
    ...(request.tools === undefined ? {} : { tools: request.tools.map((tool) => unmarked(tool)) }),
    ...(request.system === undefined ? {} : { system: unmarkedContent(request.system) }),
    messages: request.messages.map((message): ApiMessage => {
      if (!isRecord(message)) return message;
      const content = unmarkedContent(message.content);
      return content === message.content ? message : { ...message, content };
    }),
  };
}

function unmarkedContent(content: MessageContent): MessageContent {
  if (!Array.isArray(content)) return content;
  const blocks = content.map((block) => (isBlock(block) ? unmarkedBlock(block) : block));
  return blocks.every((block, index) => block === content[index]) ? content : blocks;
}

function unmarkedBlock(block: ContentBlock): ContentBlock {
  const outer = unmarked(block);
  if (outer.type !== "tool_result" || outer.content === undefined) return outer;
  const content = unmarkedContent(outer.content);
  return content === outer.content ? outer : { ...outer, content };
}

function unmarked<T extends object>(value: T): T {
  if (!("cache_control" in value)) return value;
  const { cache_control: _, ...rest } = value as T & JsonRecord;
  return rest as unknown as T;
}
