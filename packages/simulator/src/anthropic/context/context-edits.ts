import {
  asList,
  contentBlocks,
  field,
  isRecord,
  isThinking,
  type JsonRecord,
  listField,
  stringField,
} from "@longhaul/core/internal/messages";
import type { ApiMessage, ContentBlock, ToolUseBlock } from "@longhaul/core/messages";
import type { SimulatedModel } from "../request.ts";
import { textOf } from "../wording/refuse.ts";
import { keepBlocks } from "./conversation.ts";

type Clearing =
  | { readonly type: "clear_tool_uses_20250919"; readonly cleared_tool_uses: number }
  | { readonly type: "clear_thinking_20251015"; readonly cleared_thinking_turns: number };

/** An edit that changed something, as listed in `context_management.applied_edits`. */
export type AppliedEdit = Clearing & { readonly cleared_input_tokens: number };

/**
 * Function that counts the tokens of the whole request with these messages. It is expensive, so it is called
 * only if the number is needed.
 */
type Measure = (messages: readonly ApiMessage[]) => number;

export interface EditedMessages {
  readonly messages: readonly ApiMessage[];
  readonly tokens: number;
  readonly applied: readonly AppliedEdit[];
}

export function readEdits(body: JsonRecord): readonly JsonRecord[] {
  return listField(body.context_management, "edits").filter(isRecord);
}

/**
 * Returns the messages that the model sees before any context edit. Removes system messages for a past turn,
 * and system messages that only set the effort. On older models, also removes the thinking of earlier turns,
 * unless the request says which thinking to keep.
 */
export function withoutPastTurns(
  messages: readonly ApiMessage[],
  model: SimulatedModel,
  edits: readonly JsonRecord[],
): readonly ApiMessage[] {
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const isOver = (message: ApiMessage, index: number): boolean =>
    message.role === "system" &&
    (saysNothing(message) || (index < lastUser && clearAt(message) === "next_user_message"));
  const shown = messages.some(isOver)
    ? messages.filter((message, index) => !isOver(message, index))
    : messages;
  const saysItself = edits.some(({ type }) => type === "clear_thinking_20251015");
  return model.features.keepsEarlierThinking || saysItself ? shown : stripEarlierThinking(shown);
}

/**
 * True for a message without content. A system message may have no content, although the type requires it.
 */
const saysNothing = ({ content }: ApiMessage): boolean => !content?.length;

const clearAt = (message: ApiMessage): unknown => (message as { readonly clear_at?: unknown }).clear_at;

/** Applies the context edits of a request in order. */
export function applyEdits(
  before: { readonly messages: readonly ApiMessage[]; readonly tokens: number },
  edits: readonly JsonRecord[],
  model: SimulatedModel,
  measure: Measure,
): EditedMessages {
  let state: EditedMessages = { ...before, applied: [] };
  for (const edit of edits) {
    const cleared = clear(edit, state, model);
    if (cleared === undefined) continue;
    const tokens = measure(cleared.messages);
    const clearedTokens = state.tokens - tokens;
    if (clearedTokens < (cleared.leastTokens ?? clearedTokens)) continue;
    const applied: AppliedEdit = { ...cleared.edit, cleared_input_tokens: clearedTokens };
    state = { messages: cleared.messages, tokens, applied: [...state.applied, applied] };
  }
  return state;
}

/** Result of one context edit. */
interface Cleared {
  readonly messages: readonly ApiMessage[];
  readonly edit: Clearing;
  /** Minimum gain in tokens. An edit that clears less is not applied. */
  readonly leastTokens?: number;
}

/** Applies one edit. Returns undefined if the edit changes nothing or is of another type. */
function clear(edit: JsonRecord, state: EditedMessages, model: SimulatedModel): Cleared | undefined {
  if (edit.type === "clear_thinking_20251015") return clearThinking(edit, state, model);
  return edit.type === "clear_tool_uses_20250919" ? clearToolUses(edit, state) : undefined;
}

// Thinking

/**
 * Default number of turns that keep their thinking, on models that see only the thinking of the current turn.
 */
const DEFAULT_KEPT_TURNS = 1;

function clearThinking(
  edit: JsonRecord,
  { messages }: EditedMessages,
  model: SimulatedModel,
): Cleared | undefined {
  const kept = keptTurns(edit, model.features.keepsEarlierThinking);
  const turns = thinkingTurns(messages);
  const cleared = turns.slice(0, Math.max(0, turns.length - kept));
  if (cleared.length === 0) return undefined;
  return {
    messages: withoutThinking(messages, cleared.flat()),
    edit: { type: "clear_thinking_20251015", cleared_thinking_turns: cleared.length },
  };
}

/** Returns how many of the newest turns with thinking keep their thinking. */
function keptTurns({ keep }: JsonRecord, keepsEarlierThinking: boolean): number {
  if (keep === "all" || field(keep, "type") === "all") return Number.POSITIVE_INFINITY;
  return numberOf(keep) ?? (keepsEarlierThinking ? Number.POSITIVE_INFINITY : DEFAULT_KEPT_TURNS);
}

/**
 * Removes the thinking before the newest user text, for models that do not keep earlier thinking. Tool
 * results belong to the turn that called the tools.
 */
function stripEarlierThinking(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const current = messages.findLastIndex(speaks);
  const earlier = thinkingTurns(messages)
    .flat()
    .filter((index) => index < current);
  return withoutThinking(messages, earlier);
}

/**
 * Returns true for a user message that contains more than tool results. Tool results alone continue the turn.
 */
const speaks = ({ role, content }: ApiMessage): boolean =>
  role === "user" && contentBlocks(content).some(({ type }) => type !== "tool_result");

/**
 * Returns one list for every turn with thinking. The list has the indices of the assistant messages that
 * contain the thinking.
 */
function thinkingTurns(messages: readonly ApiMessage[]): readonly (readonly number[])[] {
  const turns: number[][] = [];
  let isNewTurn = true;
  for (const [index, message] of messages.entries()) {
    if (speaks(message)) isNewTurn = true;
    if (message.role !== "assistant" || !contentBlocks(message.content).some(isThinking)) continue;
    if (isNewTurn) turns.push([]);
    turns.at(-1)?.push(index);
    isNewTurn = false;
  }
  return turns;
}

function withoutThinking(messages: readonly ApiMessage[], indices: readonly number[]): readonly ApiMessage[] {
  if (indices.length === 0) return messages;
  const stripped = new Set(indices);
  return keepBlocks(messages, (block, message) => !stripped.has(message) || !isThinking(block));
}

// Tool uses

/** Default trigger of the edit `clear_tool_uses_20250919`, as documented. */
const DEFAULT_TRIGGER_TOKENS = 100_000;
const DEFAULT_KEPT_TOOL_USES = 3;
/**
 * Minimum number of tokens that the edit must save. It saves nothing if the results are not longer than the
 * placeholder.
 */
const MIN_GAIN_TOKENS = 1;
/** Placeholder for a cleared result. */
export const CLEARED_RESULT: string = textOf("clearedResult");

/** Replaces results of the oldest calls with a placeholder. Call and result stay a pair. */
function clearToolUses(edit: JsonRecord, { messages, tokens }: EditedMessages): Cleared | undefined {
  const uses = blocksOf(messages.filter(({ role }) => role === "assistant")).filter(
    (block) => block.type === "tool_use",
  );
  const size = stringField(edit.trigger, "type") === "tool_uses" ? uses.length : tokens;
  if (size <= (numberOf(edit.trigger) ?? DEFAULT_TRIGGER_TOKENS)) return undefined;
  const cleared = new Set<string>();
  const names = clearableUses(edit, uses, messages);
  const changed = messages.map((message) => rewrite(message, clearBlock));
  if (cleared.size === 0) return undefined;
  return {
    messages: changed,
    edit: { type: "clear_tool_uses_20250919", cleared_tool_uses: cleared.size },
    leastTokens: Math.max(MIN_GAIN_TOKENS, numberOf(edit.clear_at_least) ?? 0),
  };

  function clearBlock(block: ContentBlock): ContentBlock {
    if (block.type === "tool_result" && names.has(block.tool_use_id) && block.content !== CLEARED_RESULT) {
      cleared.add(block.tool_use_id);
      return { ...block, content: CLEARED_RESULT };
    }
    if (block.type !== "tool_use" || isEmpty(block.input)) return block;
    const name = names.get(block.id);
    const inputs = edit.clear_tool_inputs;
    if (name === undefined || (inputs !== true && !asList(inputs).includes(name))) return block;
    cleared.add(block.id);
    return { ...block, input: {} };
  }
}

/**
 * Returns the calls that can be cleared. The key is the id of the call, the value is the name of its tool. A
 * call that still waits for its result cannot be cleared.
 */
function clearableUses(
  edit: JsonRecord,
  uses: readonly ToolUseBlock[],
  messages: readonly ApiMessage[],
): ReadonlyMap<string, string> {
  const answered = new Set(
    blocksOf(messages).map((block) => (block.type === "tool_result" ? block.tool_use_id : undefined)),
  );
  const finished = uses.filter(({ id }) => answered.has(id));
  const kept = numberOf(edit.keep) ?? DEFAULT_KEPT_TOOL_USES;
  const excluded = asList(edit.exclude_tools);
  const old = finished.slice(0, Math.max(0, finished.length - kept));
  return new Map(old.filter(({ name }) => !excluded.includes(name)).map(({ id, name }) => [id, name]));
}

const blocksOf = (messages: readonly ApiMessage[]): readonly ContentBlock[] =>
  messages.flatMap(({ content }) => (typeof content === "string" ? [] : contentBlocks(content)));

function rewrite(message: ApiMessage, change: (block: ContentBlock) => ContentBlock): ApiMessage {
  if (typeof message.content === "string") return message;
  const blocks = contentBlocks(message.content);
  const content = blocks.map(change);
  return content.every((block, index) => block === blocks[index]) ? message : { ...message, content };
}

const isEmpty = (input: unknown): boolean => isRecord(input) && Object.keys(input).length === 0;

/** Reads the `value` of `trigger`, `keep` or `clear_at_least`. */
function numberOf(amount: unknown): number | undefined {
  const value = field(amount, "value");
  return typeof value === "number" ? value : undefined;
}
