import type { ApiMessage } from "../../../conversation/message.ts";
import { isRecord, type JsonRecord, listField } from "../../../conversation/untrusted.ts";
import type { SimulatedModel } from "../exchange.ts";
import { clearThinking, keptTurns, stripEarlierThinking } from "./clear-thinking.ts";
import { clearToolUses, isTriggered, readClearToolUses } from "./clear-tool-uses.ts";

/** An edit that changed something, as `context_management.applied_edits` lists it. */
export type AppliedEdit =
  | {
      readonly type: "clear_tool_uses_20250919";
      readonly cleared_tool_uses: number;
      readonly cleared_input_tokens: number;
    }
  | {
      readonly type: "clear_thinking_20251015";
      readonly cleared_thinking_turns: number;
      readonly cleared_input_tokens: number;
    };

/** Tokens of the whole request with these messages. Costs something: called only where a figure is needed. */
export type Measure = (messages: readonly ApiMessage[]) => number;

export interface EditedMessages {
  readonly messages: readonly ApiMessage[];
  readonly tokens: number;
  readonly applied: readonly AppliedEdit[];
}

export function readEdits(body: JsonRecord): readonly JsonRecord[] {
  return listField(body.context_management, "edits").filter(isRecord);
}

/**
 * What the model is shown without any edit: system messages that were for one turn, or only set the effort, are
 * gone, and on older models so is the thinking of earlier turns, unless the request says itself which to keep.
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

/** A message of the system may come without content; nobody who reads messages expects that. */
const saysNothing = ({ content }: ApiMessage): boolean => !content?.length;

const clearAt = (message: ApiMessage): unknown => (message as { readonly clear_at?: unknown }).clear_at;

/** Applies the edits in the order in which they are listed. */
export function applyEdits(
  before: { readonly messages: readonly ApiMessage[]; readonly tokens: number },
  edits: readonly JsonRecord[],
  model: SimulatedModel,
  measure: Measure,
): EditedMessages {
  let state: EditedMessages = { ...before, applied: [] };
  for (const edit of edits) {
    if (edit.type === "clear_thinking_20251015") state = applyClearThinking(state, edit, model, measure);
    if (edit.type === "clear_tool_uses_20250919") state = applyClearToolUses(state, edit, measure);
  }
  return state;
}

function applyClearThinking(
  state: EditedMessages,
  edit: JsonRecord,
  model: SimulatedModel,
  measure: Measure,
): EditedMessages {
  const kept = keptTurns(edit, model.features.keepsEarlierThinking);
  const { messages, clearedTurns } = clearThinking(state.messages, kept);
  if (clearedTurns === 0) return state;
  const tokens = measure(messages);
  const applied: AppliedEdit = {
    type: "clear_thinking_20251015",
    cleared_thinking_turns: clearedTurns,
    cleared_input_tokens: state.tokens - tokens,
  };
  return { messages, tokens, applied: [...state.applied, applied] };
}

function applyClearToolUses(state: EditedMessages, edit: JsonRecord, measure: Measure): EditedMessages {
  const wanted = readClearToolUses(edit);
  if (!isTriggered(wanted, state.messages, state.tokens)) return state;
  const { messages, clearedToolUses } = clearToolUses(state.messages, wanted);
  if (clearedToolUses === 0) return state;
  const tokens = measure(messages);
  const clearedTokens = state.tokens - tokens;
  if (clearedTokens < wanted.clearAtLeastTokens) return state;
  const applied: AppliedEdit = {
    type: "clear_tool_uses_20250919",
    cleared_tool_uses: clearedToolUses,
    cleared_input_tokens: clearedTokens,
  };
  return { messages, tokens, applied: [...state.applied, applied] };
}
