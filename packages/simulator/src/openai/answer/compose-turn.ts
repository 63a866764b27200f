import { type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { ReportedUsage, Turn, TurnBlock } from "../../exchange.ts";
import { type CountText, TOOL_BLOCK_TOKENS } from "../../prompt/token-count.ts";
import { cutText, findStop } from "../../reply/cut.ts";
import { type TurnEnd, turnEnd } from "../../reply/stop-reason.ts";

/** One part of a turn, cut to the limits of its call. */
export type TurnPart =
  | { readonly type: "text"; readonly text: string }
  /** Reasoning. Chat completions report only its tokens. */
  | { readonly type: "reasoning"; readonly text: string; readonly tokens: number }
  | TurnCall
  /** A part that is sent unchanged. */
  | { readonly type: "raw"; readonly block: JsonRecord };

/** A call of a function, or of a custom tool with free text. */
export interface TurnCall {
  readonly type: "call";
  readonly kind: "function" | "custom";
  /** Id that the script sets. Undefined for a new id. */
  readonly id: string | undefined;
  readonly name: string;
  /** JSON of the arguments, or the text for a custom tool. It may be cut. */
  readonly input: string;
}

/** A turn of the model in neutral form, from which both APIs build their answers. */
export interface ComposedTurn {
  readonly parts: readonly TurnPart[];
  readonly end: TurnEnd;
  /** Stop reason of the script that no provider knows. It is sent unchanged. */
  readonly unknownReason: string | undefined;
  readonly stopDetails: JsonRecord | undefined;
  /** All tokens of the answer, including reasoning. */
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly reportedUsage: ReportedUsage | undefined;
  readonly delayMs: number;
}

export interface TurnLimits {
  /** Maximum tokens of the answer, including reasoning. */
  readonly maxTokens: number;
  readonly stopSequences: readonly string[];
  /** False for a model that does not reason, and for an effort of `none`. */
  readonly reasons: boolean;
  /** Names of tools that take free text instead of JSON. */
  readonly customTools: ReadonlySet<string>;
}

/** Minimum output tokens of an answer, even of an empty one. */
const MIN_OUTPUT_TOKENS = 1;

export function composeTurn(turn: Turn, limits: TurnLimits, countText: CountText): ComposedTurn {
  const parts: TurnPart[] = [];
  let spent = 0;
  let reasoningTokens = 0;
  for (const planned of turn.blocks) {
    if (planned.type === "thinking" && !limits.reasons) continue;
    const stop = planned.type === "text" ? findStop(planned.text, limits.stopSequences) : undefined;
    const block = stop === undefined ? planned : { ...planned, text: stop.text };
    const { part, tokens, isCut } = writePart(block, limits.maxTokens - spent, limits, countText);
    spent += tokens;
    if (planned.type === "thinking") reasoningTokens += tokens;
    if (part !== undefined) parts.push(part);
    if (isCut) return ended("length");
    if (stop !== undefined) return ended("stop");
  }
  const { stopReason } = turn;
  if (stopReason === undefined) return ended(naturalEnd(parts));
  const known = turnEnd(stopReason);
  return known === undefined ? ended(naturalEnd(parts), stopReason) : ended(known);

  function ended(end: TurnEnd, unknownReason?: string): ComposedTurn {
    return {
      parts,
      end,
      unknownReason,
      stopDetails: turn.stopDetails,
      outputTokens: Math.max(MIN_OUTPUT_TOKENS, spent),
      reasoningTokens,
      reportedUsage: turn.usage,
      delayMs: turn.delayMs ?? 0,
    };
  }
}

/** Text of a refusal without any text of its own. */
const REFUSAL_TEXT = "I'm sorry, but I can't assist with that request.";

/** Returns the text of a turn that refuses: its own texts, or the explanation in the details. */
export function refusalText({ parts, stopDetails }: ComposedTurn): string {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  return text || (stringField(stopDetails, "explanation") ?? REFUSAL_TEXT);
}

const naturalEnd = (parts: readonly TurnPart[]): TurnEnd =>
  parts.some(({ type }) => type === "call") ? "tool_calls" : "stop";

interface WrittenPart {
  readonly part: TurnPart | undefined;
  readonly tokens: number;
  readonly isCut: boolean;
}

function writePart(block: TurnBlock, budget: number, limits: TurnLimits, countText: CountText): WrittenPart {
  switch (block.type) {
    case "text": {
      const { text, tokens, isCut } = cutText(block.text, budget, countText);
      return { part: text === "" ? undefined : { type: "text", text }, tokens, isCut };
    }
    case "thinking": {
      const { text, tokens, isCut } = cutText(block.thinking, budget, countText);
      return { part: { type: "reasoning", text, tokens }, tokens, isCut };
    }
    case "tool_use":
      return writeCall(block, budget, limits, countText);
    case "raw": {
      const tokens = countText(JSON.stringify(block.block));
      if (tokens > budget) return { part: undefined, tokens: Math.max(0, budget), isCut: true };
      return { part: { type: "raw", block: block.block }, tokens, isCut: false };
    }
  }
}

/** Writes a call. The real API also cuts arguments in the middle, so the client gets incomplete JSON. */
function writeCall(
  { name, input, id }: Extract<TurnBlock, { type: "tool_use" }>,
  budget: number,
  { customTools }: TurnLimits,
  countText: CountText,
): WrittenPart {
  const overhead = TOOL_BLOCK_TOKENS + countText(name);
  if (budget < overhead) return { part: undefined, tokens: Math.max(0, budget), isCut: true };
  const isCustom = customTools.has(name);
  const whole = isCustom && typeof input.input === "string" ? input.input : JSON.stringify(input);
  const { text, tokens, isCut } = cutText(whole, budget - overhead, countText);
  const part: TurnCall = { type: "call", kind: isCustom ? "custom" : "function", id, name, input: text };
  return { part, tokens: tokens + overhead, isCut };
}
