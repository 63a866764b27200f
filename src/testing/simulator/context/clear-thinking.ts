import type { ApiMessage } from "../../../conversation/message.ts";
import { contentBlocks, isThinking } from "../../../conversation/message.ts";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { field } from "../../../conversation/untrusted.ts";

/** Thinking that stays: of this many turns that have any, the newest ones. */
export type KeptTurns = number | "all";

/** What models keep that show themselves only the thinking of the turn they are in. */
const DEFAULT_KEPT_TURNS = 1;

export function keptTurns(edit: JsonRecord, keepsEarlierThinking: boolean): KeptTurns {
  if (edit.keep === "all" || field(edit.keep, "type") === "all") return "all";
  const value = field(edit.keep, "value");
  if (typeof value === "number") return value;
  return keepsEarlierThinking ? "all" : DEFAULT_KEPT_TURNS;
}

export interface ClearedThinking {
  readonly messages: readonly ApiMessage[];
  readonly clearedTurns: number;
}

export function clearThinking(messages: readonly ApiMessage[], kept: KeptTurns): ClearedThinking {
  if (kept === "all") return { messages, clearedTurns: 0 };
  const turns = thinkingTurns(messages);
  const cleared = turns.slice(0, Math.max(0, turns.length - kept));
  if (cleared.length === 0) return { messages, clearedTurns: 0 };
  return { messages: withoutThinking(messages, new Set(cleared.flat())), clearedTurns: cleared.length };
}

/**
 * Models that do not keep earlier thinking lose all of it when the user speaks again; tool results are part
 * of the turn that called the tools.
 */
export function stripEarlierThinking(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const current = messages.findLastIndex(speaks);
  const earlier = thinkingTurns(messages)
    .flat()
    .filter((index) => index < current);
  return earlier.length === 0 ? messages : withoutThinking(messages, new Set(earlier));
}

/** The user says something: tool results alone continue a turn. */
const speaks = ({ role, content }: ApiMessage): boolean =>
  role === "user" && contentBlocks(content).some(({ type }) => type !== "tool_result");

/** For every turn with thinking, the assistant messages that hold it. */
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

/** A message that held nothing else goes altogether: one without content would be refused. */
function withoutThinking(
  messages: readonly ApiMessage[],
  indices: ReadonlySet<number>,
): readonly ApiMessage[] {
  return messages.flatMap((message, index) => {
    if (!indices.has(index)) return [message];
    const content = contentBlocks(message.content).filter((block) => !isThinking(block));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}
