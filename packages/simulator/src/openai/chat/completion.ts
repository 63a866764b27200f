import type { JsonRecord } from "@longhaul/core/internal/messages";
import { type ComposedTurn, refusalText, type TurnCall } from "../answer/compose-turn.ts";
import type { TokenFigures } from "../answer/model-answers.ts";

/** One tool call as the API sends it. */
export type CompletionCall =
  | {
      readonly id: string;
      readonly type: "function";
      readonly function: { readonly name: string; readonly arguments: string };
    }
  | {
      readonly id: string;
      readonly type: "custom";
      readonly custom: { readonly name: string; readonly input: string };
    };

export interface CompletionMessage {
  readonly role: "assistant";
  readonly content: string | null;
  readonly refusal: string | null;
  readonly annotations: readonly never[];
  readonly tool_calls?: readonly CompletionCall[];
  /** The only call of an answer to a request with the deprecated field `functions`. */
  readonly function_call?: { readonly name: string; readonly arguments: string };
  /** Fields of raw blocks. */
  readonly [field: string]: unknown;
}

export interface CompletionChoice {
  readonly index: number;
  readonly message: CompletionMessage;
  readonly logprobs: null;
  readonly finish_reason: string;
}

/** A complete answer of `POST /v1/chat/completions`. */
export interface Completion {
  readonly id: string;
  readonly object: "chat.completion";
  readonly created: number;
  readonly model: string;
  readonly choices: readonly CompletionChoice[];
  readonly usage: JsonRecord;
  readonly service_tier: string;
  readonly system_fingerprint: string;
}

export interface ChoiceMakers {
  newId(): string;
  /** True for a request with the deprecated field `functions`, whose answers have the deprecated form. */
  readonly isLegacy: boolean;
}

/** Returns one choice. Texts of a turn are joined, because a message has one content. */
export function completionChoice(turn: ComposedTurn, index: number, makers: ChoiceMakers): CompletionChoice {
  const { parts, end, unknownReason } = turn;
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const calls = parts.filter((part) => part.type === "call");
  const raw = Object.assign(
    {},
    ...parts.map((part) => (part.type === "raw" ? part.block : {})),
  ) as JsonRecord;
  const isRefusal = end === "refusal";
  return {
    index,
    message: {
      role: "assistant",
      content: isRefusal || text === "" ? emptyContent(isRefusal || calls.length > 0) : text,
      refusal: isRefusal ? refusalText(turn) : null,
      annotations: [],
      ...callFields(calls, makers),
      ...raw,
    },
    logprobs: null,
    finish_reason: unknownReason ?? finishReason(end, makers),
  };
}

function finishReason(end: ComposedTurn["end"], { isLegacy }: ChoiceMakers): string {
  if (end === "refusal") return "stop";
  return isLegacy && end === "tool_calls" ? "function_call" : end;
}

function callFields(
  calls: readonly TurnCall[],
  { newId, isLegacy }: ChoiceMakers,
): Pick<CompletionMessage, "tool_calls" | "function_call"> {
  const [first] = calls;
  if (first === undefined) return {};
  if (isLegacy) return { function_call: { name: first.name, arguments: first.input } };
  return { tool_calls: calls.map((call) => completionCall(call, newId)) };
}

const emptyContent = (isNull: boolean): string | null => (isNull ? null : "");

function completionCall({ kind, id, name, input }: TurnCall, newId: () => string): CompletionCall {
  const own = id ?? newId();
  return kind === "custom"
    ? { id: own, type: "custom", custom: { name, input } }
    : { id: own, type: "function", function: { name, arguments: input } };
}

/** Returns `usage`. Every choice of the answer has the same output. */
export function completionUsage(figures: TokenFigures, choices: number): JsonRecord {
  const { inputTokens, cachedTokens, writtenTokens, outputTokens, reasoningTokens } = figures;
  const output = outputTokens * choices;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: output,
    total_tokens: inputTokens + output,
    prompt_tokens_details: {
      cached_tokens: cachedTokens,
      audio_tokens: 0,
      ...(writtenTokens === undefined ? {} : { cache_write_tokens: writtenTokens }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens * choices,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
