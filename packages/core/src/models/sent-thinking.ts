import { claudeFeatures } from "../measure/window/claude-features.ts";
import {
  type ApiMessage,
  type ContentBlock,
  contentBlocks,
  isBlock,
  isThinking,
} from "../messages/message.ts";
import { listField } from "../messages/untrusted.ts";
import type { ModelRequest, RequestChange } from "./port.ts";
import { FOREIGN_THINKING_MARK } from "./provider-memory.ts";

interface LeftOut {
  readonly request: ModelRequest;
  /** How many thinking blocks are missing from it. */
  readonly blocks: number;
}

/**
 * Remembers which thinking a model has refused. Once left out, a block must stay out: the thinking that
 * was written since is bound to a history without it.
 */
export class ThinkingMemory {
  readonly #refused = new Set<string>();

  /** Without the blocks that would be refused; the same request when there are none. */
  leaveOut(request: ModelRequest): LeftOut {
    return withoutThinkingUpTo(request, lastRefused(request, this.#refused));
  }

  /** From now on all thinking of this request is left out. */
  refuse(request: ModelRequest): void {
    for (const block of thinkingOf(request)) this.#refused.add(sealOf(block));
  }
}

export const hasThinking = (request: ModelRequest): boolean => thinkingOf(request).length > 0;

export const thinkingLeftOut = (blocks: number, reason: string): readonly RequestChange[] =>
  blocks === 0 ? [] : [{ type: "thinking-left-out", blocks, reason }];

/** With bound thinking the provider may be told to drop what does not fit instead of refusing the call. */
export function droppingMismatches(request: ModelRequest): ModelRequest {
  const thinking = request.thinking ?? { type: "adaptive" };
  if (thinking.type !== "adaptive" && thinking.type !== "enabled") return request;
  return {
    ...request,
    thinking: { ...thinking, block_binding: { prefix_mismatch_behavior: "drop_block" } },
  } as ModelRequest;
}

type Thinking = Extract<ContentBlock, { type: "thinking" | "redacted_thinking" }>;

const isThinkingBlock = (value: unknown): value is Thinking => isBlock(value) && isThinking(value);

function thinkingOf({ messages }: ModelRequest): readonly Thinking[] {
  return messages.flatMap((message) => listField(message, "content").filter(isThinkingBlock));
}

/** Tells one block from another. Unsigned thinking has none. */
const sealOf = (block: Thinking): string => (block.type === "thinking" ? block.signature : block.data);

/** The position, counted in thinking blocks, behind the last one that must not be sent. */
function lastRefused(request: ModelRequest, refused: ReadonlySet<string>): number {
  return (
    thinkingOf(request).findLastIndex((block) => {
      const seal: unknown = sealOf(block);
      if (typeof seal !== "string" || seal === "") return true;
      return seal.startsWith(FOREIGN_THINKING_MARK) || refused.has(seal);
    }) + 1
  );
}

/** Oldest first: a gap in the middle would make every later block invalid. */
function withoutThinkingUpTo(request: ModelRequest, count: number): LeftOut {
  if (count === 0) return { request, blocks: 0 };
  let left = count;
  const messages = request.messages.flatMap((message): readonly ApiMessage[] => {
    if (left === 0 || !listField(message, "content").some(isThinkingBlock)) return [message];
    const blocks = message.content as readonly ContentBlock[];
    const kept = blocks.filter((block) => {
      if (left === 0 || !isThinkingBlock(block)) return true;
      left -= 1;
      return false;
    });
    return kept.length === 0 ? [] : [{ ...message, content: kept }];
  });
  return { request: withSatisfiableThinking({ ...request, messages }), blocks: count };
}

/** With thinking of type `enabled`, a turn whose calls are being answered must begin with thinking. */
function withSatisfiableThinking(request: ModelRequest): ModelRequest {
  if (request.thinking?.type !== "enabled") return request;
  const turn = request.messages.at(-2);
  if (turn?.role !== "assistant" || typeof turn.content === "string") return request;
  const [first] = turn.content;
  const mustThink = turn.content.some(({ type }) => type === "tool_use");
  if (!mustThink || first === undefined || isThinking(first)) return request;
  return { ...request, thinking: { type: "disabled" } };
}

/**
 * True if another message of the user would change what the model sees of this conversation, and so its cached
 * prefix: older models forget the thinking of a turn as soon as the user speaks again, unless the request says
 * otherwise.
 */
export function forgetsThinkingAtNextTurn(
  model: string,
  { messages, context_management }: ModelRequest,
): boolean {
  if (claudeFeatures(model).keepsEarlierThinking) return false;
  if (context_management?.edits.some(({ type }) => type.startsWith("clear_thinking_"))) return false;
  const turn = messages.slice(messages.findLastIndex(speaks) + 1);
  return turn.some(({ content }) => contentBlocks(content).some(isThinking));
}

/** Results of tools alone continue a turn. */
const speaks = ({ role, content }: ApiMessage): boolean =>
  role === "user" && contentBlocks(content).some(({ type }) => type !== "tool_result");
