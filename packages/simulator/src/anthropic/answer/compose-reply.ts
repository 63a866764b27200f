import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { ContentBlock } from "@longhaul/core/messages";
import type { ReportedUsage, Turn, TurnBlock } from "../../exchange.ts";
import { TOOL_BLOCK_TOKENS } from "../../prompt/token-count.ts";
import { type CutText, cutInput, cutText, findStop } from "../../reply/cut.ts";
import { anthropicStopReason } from "../../reply/stop-reason.ts";

/** A turn with ids and signatures, cut to the limits of its call. */
export interface ComposedReply {
  readonly content: readonly ContentBlock[];
  readonly stopReason: string;
  readonly stopSequence: string | null;
  readonly stopDetails: JsonRecord | null;
  readonly outputTokens: number;
  readonly thinkingTokens: number;
  readonly reportedUsage: ReportedUsage | undefined;
  readonly delayMs: number;
}

export interface ReplyLimits {
  readonly maxTokens: number;
  /** Tokens that the window leaves for the answer. */
  readonly roomTokens: number;
  readonly stopSequences: readonly string[];
  /** False if the call disabled thinking. */
  readonly thinks: boolean;
  /**
   * True for the mode `enabled`, in which a model thinks before it calls a tool. The API refuses a conversation
   * in which it did not.
   */
  readonly mustThink: boolean;
  /** True for `display: "omitted"`. The client then gets the signature of thinking without its text. */
  readonly omitsThinking: boolean;
}

export interface ReplyMakers {
  /** Counts the tokens of a text for the model. */
  countText(text: string): number;
  newToolUseId(): string;
  sign(thinking: string, before: readonly ContentBlock[]): string;
}

/** Minimum output tokens of a reply, even of an empty one. */
const MIN_OUTPUT_TOKENS = 1;

export function composeReply(turn: Turn, limits: ReplyLimits, makers: ReplyMakers): ComposedReply {
  const budget = Math.min(limits.maxTokens, limits.roomTokens);
  const content: ContentBlock[] = [];
  let spent = 0;
  let thinkingTokens = 0;
  for (const planned of limits.mustThink ? withThinking(turn.blocks) : turn.blocks) {
    if (planned.type === "thinking" && !limits.thinks) continue;
    const stop = planned.type === "text" ? findStop(planned.text, limits.stopSequences) : undefined;
    const block = stop === undefined ? planned : { ...planned, text: stop.text };
    const written = writeBlock(block, budget - spent, content, limits, makers);
    spent += written.tokens;
    if (planned.type === "thinking") thinkingTokens += written.tokens;
    if (written.block !== undefined) content.push(written.block);
    if (written.isCut) return ended(cutReason(limits), null);
    if (stop !== undefined) return ended("stop_sequence", stop.sequence);
  }
  const reason =
    turn.stopReason === undefined ? naturalReason(content) : anthropicStopReason(turn.stopReason);
  return ended(reason, null);

  function ended(stopReason: string, stopSequence: string | null): ComposedReply {
    return {
      content,
      stopReason,
      stopSequence,
      stopDetails: stopReason === "refusal" ? refusalDetails(turn.stopDetails) : null,
      outputTokens: Math.max(MIN_OUTPUT_TOKENS, spent),
      thinkingTokens,
      reportedUsage: turn.usage,
      delayMs: turn.delayMs ?? 0,
    };
  }
}

/** Puts thinking before a turn that calls tools without it, such as a turn of a script. */
function withThinking(blocks: readonly TurnBlock[]): readonly TurnBlock[] {
  const calls = blocks.some(({ type }) => type === "tool_use");
  const isOpen = blocks[0]?.type === "thinking" || blocks[0]?.type === "raw";
  return calls && !isOpen ? [{ type: "thinking", thinking: "A tool helps here." }, ...blocks] : blocks;
}

interface WrittenBlock extends Omit<CutText, "text"> {
  readonly block: ContentBlock | undefined;
}

function writeBlock(
  block: TurnBlock,
  budget: number,
  before: readonly ContentBlock[],
  limits: ReplyLimits,
  makers: ReplyMakers,
): WrittenBlock {
  switch (block.type) {
    case "text": {
      const { text, tokens, isCut } = cutText(block.text, budget, makers.countText);
      return { block: text === "" ? undefined : { type: "text", text }, tokens, isCut };
    }
    case "thinking": {
      const { text, tokens, isCut } = cutText(block.thinking, budget, makers.countText);
      const signature = makers.sign(text, before);
      const thinking = limits.omitsThinking ? "" : text;
      return { block: { type: "thinking", thinking, signature }, tokens, isCut };
    }
    case "tool_use": {
      const overhead = TOOL_BLOCK_TOKENS + makers.countText(block.name);
      if (budget < overhead) return { block: undefined, tokens: Math.max(0, budget), isCut: true };
      const { input, tokens, isCut } = cutInput(block.input, budget - overhead, makers.countText);
      const id = block.id ?? makers.newToolUseId();
      return {
        block: { type: "tool_use", id, name: block.name, input },
        tokens: tokens + overhead,
        isCut,
      };
    }
    case "raw":
      return writeRaw(block.block, budget, makers);
  }
}

/**
 * Writes a raw block unchanged, or leaves it out if it does not fit. It cannot be cut, because only the test
 * knows its structure.
 */
function writeRaw(block: JsonRecord, budget: number, { countText }: ReplyMakers): WrittenBlock {
  const tokens = countText(JSON.stringify(block));
  if (tokens > budget) return { block: undefined, tokens: Math.max(0, budget), isCut: true };
  return { block: block as unknown as ContentBlock, tokens, isCut: false };
}

/**
 * Returns the stop reason of a cut reply. The reason is the window only if the window has fewer tokens left
 * than `max_tokens`.
 */
const cutReason = ({ maxTokens, roomTokens }: ReplyLimits): string =>
  roomTokens < maxTokens ? "model_context_window_exceeded" : "max_tokens";

const naturalReason = (content: readonly ContentBlock[]): string =>
  content.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn";

function refusalDetails(given: JsonRecord | undefined): JsonRecord {
  return {
    type: "refusal",
    category: null,
    explanation: null,
    fallback_credit_token: null,
    fallback_has_prefill_claim: null,
    recommended_model: null,
    ...(isRecord(given) ? given : {}),
  };
}
