import { CLEARED_RESULT_TEXT, isCleared } from "../conversation/cleared.ts";
import type { Entry } from "../conversation/entry.ts";
import { entryBlocks, rawContent } from "../conversation/entry.ts";
import { isThinking } from "../conversation/message.ts";
import { indexPairs, type ToolPair } from "../conversation/pairs.ts";
import { field, stringField, stringListField } from "../conversation/untrusted.ts";
import type { ContextEdit } from "../models/port.ts";
import { CLEARING_TARGET_TOKENS } from "./by-size.ts";
import { isIdle } from "./by-time.ts";
import { ELIGIBLE_TOOLS, WRITE_LIKE_TOOLS } from "./eligible.ts";
import type { TokensOf } from "./result-index.ts";

/** Where the provider begins to clear: the usual window less what is set aside for the answer. */
export const API_CLEARING_TRIGGER_TOKENS = 180_000;
const KEPT_TOOL_USES = 3;
/** The provider's default, for edits of the host that state no trigger. */
const DEFAULT_TRIGGER_TOKENS = 100_000;
/** Our count may be off by this factor, so the provider may clear where we count a little less than it requires. */
const COUNT_ERROR = 1.25;
/** A stated size up to this factor above our count may be the size of the same prompt. */
const SAME_SIZE = 1.1;

export interface ContextEditOptions {
  /** Those whose results can be had again. */
  readonly tools?: readonly string[] | undefined;
  /** Every tool of the request, and of calls in its messages: the provider clears all it is not told to spare. */
  readonly toolsInPlay: readonly string[];
  readonly triggerTokens?: number | undefined;
  readonly targetTokens?: number | undefined;
  /**
   * The longest pause since the conversation was last compacted. The pause before this call alone would
   * bring all thinking back with the next one, and break the cache a second time.
   */
  readonly idleMs?: number | undefined;
  /** Results that no model has seen: the provider keeps at least these. */
  readonly unseenResults?: number | undefined;
  /** The request lets the model think: without that the provider refuses to clear thinking. */
  readonly thinkingOn: boolean;
}

/** What has the provider clear by itself. The same for the same input, byte for byte: it is part of the request. */
export function contextEdits(options: ContextEditOptions): readonly ContextEdit[] {
  const clearing = clearToolUses(options);
  // The API wants thinking first.
  const thinking = options.thinkingOn ? [clearThinking(isIdle(options.idleMs))] : [];
  return clearing === undefined ? thinking : [...thinking, clearing];
}

function clearThinking(wasIdle: boolean): ContextEdit {
  return {
    type: "clear_thinking_20251015",
    keep: wasIdle ? { type: "thinking_turns", value: 1 } : "all",
  };
}

function clearToolUses(options: ContextEditOptions): ContextEdit | undefined {
  const {
    tools = ELIGIBLE_TOOLS,
    triggerTokens = API_CLEARING_TRIGGER_TOKENS,
    targetTokens = CLEARING_TARGET_TOKENS,
  } = options;
  const eligible = new Set(tools);
  const names = [...new Set(options.toolsInPlay)].sort();
  const spared = names.filter((name) => !eligible.has(name));
  const writing = names.filter((name) => eligible.has(name) && WRITE_LIKE_TOOLS.has(name));
  if (spared.length === names.length) return undefined;
  return {
    type: "clear_tool_uses_20250919",
    trigger: { type: "input_tokens", value: asTokens(triggerTokens) },
    keep: { type: "tool_uses", value: Math.max(KEPT_TOOL_USES, options.unseenResults ?? 0) },
    clear_at_least: { type: "input_tokens", value: asTokens(triggerTokens - targetTokens) },
    ...(spared.length === 0 ? {} : { exclude_tools: spared }),
    ...(writing.length === 0 ? {} : { clear_tool_inputs: writing }),
  };
}

/** The API takes whole numbers from 0 on. */
const asTokens = (value: number): number => Math.max(0, Math.round(value) || 0);

export interface EditedPrompt {
  /** The prompt before the edits, by our count. */
  readonly countedTokens: number;
  /** The prompt after the edits, as the provider states it; 0 if it does not. */
  readonly statedTokens: number;
  /** As the provider counts. */
  readonly tokensOf: TokensOf;
}

/** Tokens that the provider leaves out of a prompt with these messages, because the request has these edits. */
export function tokensLeftOut(
  entries: readonly Entry[],
  edits: readonly unknown[],
  prompt: EditedPrompt,
): number {
  let leftOut = 0;
  for (const edit of edits) {
    const type = stringField(edit, "type");
    if (type === "clear_thinking_20251015") leftOut += thinkingLeftOut(entries, edit, prompt);
    if (type === "clear_tool_uses_20250919") leftOut += toolUsesLeftOut(entries, edit, prompt);
  }
  return leftOut;
}

function toolUsesLeftOut(entries: readonly Entry[], edit: unknown, prompt: EditedPrompt): number {
  const answered = [...indexPairs(entries).pairs.values()].filter(({ results }) => results.length > 0);
  const trigger = figureOf(edit, "trigger") ?? DEFAULT_TRIGGER_TOKENS;
  const isCountOfUses = stringField(field(edit, "trigger"), "type") === "tool_uses";
  const promptTokens = Math.max(prompt.countedTokens, prompt.statedTokens);
  if ((isCountOfUses ? answered.length : promptTokens) <= trigger) return 0;
  const old = answered.slice(0, Math.max(0, answered.length - (figureOf(edit, "keep") ?? KEPT_TOOL_USES)));
  const spared = new Set(stringListField(edit, "exclude_tools"));
  const inputs = field(edit, "clear_tool_inputs");
  const emptied = new Set(stringListField(edit, "clear_tool_inputs"));
  let leftOut = 0;
  for (const pair of old) {
    if (spared.has(pair.name)) continue;
    leftOut += pairLeftOut(pair, inputs === true || emptied.has(pair.name), prompt.tokensOf);
  }
  const least = figureOf(edit, "clear_at_least") ?? 0;
  if (leftOut * COUNT_ERROR < least) return 0;
  return leftOut < least * COUNT_ERROR && isStatedWhole(leftOut, prompt) ? 0 : leftOut;
}

/** True if the stated size is closer to our count of the whole prompt than to the rest after the edit. */
function isStatedWhole(leftOut: number, { countedTokens, statedTokens }: EditedPrompt): boolean {
  return statedTokens > countedTokens - leftOut / 2 && statedTokens < countedTokens * SAME_SIZE;
}

function pairLeftOut({ use, results }: ToolPair, isInputCleared: boolean, tokensOf: TokensOf): number {
  const whole = results.map(({ block }) => block).filter((block) => !isCleared(block));
  const inResults = whole.map(
    (block) => tokensOf(block) - tokensOf({ ...block, content: CLEARED_RESULT_TEXT }),
  );
  const inInput = isInputCleared ? tokensOf(use.block) - tokensOf({ ...use.block, input: {} }) : 0;
  return inResults.reduce((sum, tokens) => sum + Math.max(0, tokens), inInput);
}

/** Thinking of all turns but the newest ones. Without a number, the provider keeps what it counts anyway. */
function thinkingLeftOut(entries: readonly Entry[], edit: unknown, { tokensOf }: EditedPrompt): number {
  const keep = figureOf(edit, "keep");
  if (keep === undefined) return 0;
  const turns: number[] = [];
  let isNewTurn = true;
  for (const entry of entries) {
    if (entry.type === "user") isNewTurn ||= isSpoken(rawContent(entry));
    if (entry.type !== "assistant") continue;
    const thinking = entryBlocks(entry).filter(isThinking);
    if (thinking.length === 0) continue;
    if (isNewTurn) turns.push(0);
    isNewTurn = false;
    turns[turns.length - 1] = thinking.reduce((sum, block) => sum + tokensOf(block), turns.at(-1) ?? 0);
  }
  return turns.slice(0, Math.max(0, turns.length - keep)).reduce((sum, tokens) => sum + tokens, 0);
}

/** Tool results alone continue a turn. */
const isSpoken = (content: unknown): boolean =>
  !Array.isArray(content) || content.some((block) => stringField(block, "type") !== "tool_result");

/** The number in a field such as `{ type: "tool_uses", value: 3 }`. */
function figureOf(edit: unknown, name: string): number | undefined {
  const value = field(field(edit, name), "value");
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
