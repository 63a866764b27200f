import type { Entry } from "../../messages/entry.ts";
import { entryBlocks, rawContent } from "../../messages/entry.ts";
import { isThinking } from "../../messages/message.ts";
import { indexPairs, type ToolPair } from "../../messages/pairs.ts";
import { CLEARED_RESULT_TEXT, isCleared } from "../../messages/stand-ins.ts";
import { field, stringField, stringListField } from "../../messages/untrusted.ts";
import type { TokensOf } from "./stale-results.ts";

/** Number of tool uses that the provider keeps by default. */
export const KEPT_TOOL_USES = 3;
/** Prompt size at which the provider clears if an edit of the host states no trigger. */
const DEFAULT_TRIGGER_TOKENS = 100_000;
/** Possible error of our count. The provider may clear even if our count is slightly below its trigger. */
const COUNT_ERROR = 1.25;
/** If the stated size is less than our count times this ratio, both figures may describe the same prompt. */
const SAME_SIZE = 1.1;

export interface EditedPrompt {
  /** Size of the prompt before the edits, by our count. */
  readonly countedTokens: number;
  /** Size of the prompt after the edits, as the provider states it, or 0 if the provider states no size. */
  readonly statedTokens: number;
  /** Counts tokens as the provider does. */
  readonly tokensOf: TokensOf;
}

/** Returns the tokens that the provider leaves out of a prompt because of these edits. */
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

/**
 * Returns true if the stated size is closer to our count of the whole prompt than to our count of the prompt
 * after the edit.
 */
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

/**
 * Returns the thinking tokens of all turns except the newest ones that the edit keeps. If the edit states no
 * number of turns, nothing is left out.
 */
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

/**
 * Returns true if a user message contains more than tool results. A message with only tool results continues
 * a turn.
 */
const isSpoken = (content: unknown): boolean =>
  !Array.isArray(content) || content.some((block) => stringField(block, "type") !== "tool_result");

/** Returns the number in a field such as `{ type: "tool_uses", value: 3 }`. */
function figureOf(edit: unknown, name: string): number | undefined {
  const value = field(field(edit, name), "value");
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
