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

interface ReducedRequest {
  readonly request: ModelRequest;
  /** Number of thinking blocks that were removed. */
  readonly blocks: number;
}

/**
 * Remembers which thinking blocks a model refused. A removed block must stay removed, because later thinking
 * is bound to a history without that block.
 */
export class ThinkingMemory {
  readonly #refused = new Set<string>();

  /** Removes the blocks that the model would refuse. Returns the same request if there are none. */
  withoutRefused(request: ModelRequest): ReducedRequest {
    return withoutThinkingUpTo(request, lastRefused(request, this.#refused));
  }

  /** Marks all thinking of this request as refused, so that later calls leave it out. */
  refuse(request: ModelRequest): void {
    for (const block of thinkingOf(request)) this.#refused.add(signatureOf(block));
  }
}

export const hasThinking = (request: ModelRequest): boolean => thinkingOf(request).length > 0;

export const thinkingRemovalChange = (blocks: number, reason: string): readonly RequestChange[] =>
  blocks === 0 ? [] : [{ type: "thinking-left-out", blocks, reason }];

/** Asks a provider with bound thinking to drop mismatching blocks instead of refusing the call. */
export function withMismatchesDropped(request: ModelRequest): ModelRequest {
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

/** Identifies a block. Unsigned thinking has an empty or missing identifier. */
const signatureOf = (block: Thinking): string => (block.type === "thinking" ? block.signature : block.data);

/** Counts the thinking blocks up to and including the last one that must not be sent. */
function lastRefused(request: ModelRequest, refused: ReadonlySet<string>): number {
  return (
    thinkingOf(request).findLastIndex((block) => {
      const seal: unknown = signatureOf(block);
      if (typeof seal !== "string" || seal === "") return true;
      return seal.startsWith(FOREIGN_THINKING_MARK) || refused.has(seal);
    }) + 1
  );
}

/** Removes the oldest blocks. A gap in the middle would make every later block invalid. */
function withoutThinkingUpTo(request: ModelRequest, count: number): ReducedRequest {
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

/**
 * Disables thinking if the API would refuse the request. If thinking is `enabled`, an assistant turn with
 * tool calls must start with thinking.
 */
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
 * Returns true if the model drops the thinking of the current turn when the user writes again. In that case
 * the content that the model sees changes, and the cached prefix changes too. Older models drop this
 * thinking, unless the request says otherwise.
 */
export function forgetsThinkingAtNextTurn(
  model: string,
  { messages, context_management }: ModelRequest,
): boolean {
  if (claudeFeatures(model).keepsEarlierThinking) return false;
  if (context_management?.edits.some(({ type }) => type.startsWith("clear_thinking_"))) return false;
  const turn = messages.slice(messages.findLastIndex(isUserPrompt) + 1);
  return turn.some(({ content }) => contentBlocks(content).some(isThinking));
}

/** Returns true if the message starts a turn. A message with only tool results continues a turn. */
const isUserPrompt = ({ role, content }: ApiMessage): boolean =>
  role === "user" && contentBlocks(content).some(({ type }) => type !== "tool_result");
