import { reminder } from "../../../conversation/flatten/reminder.ts";
import type { ApiMessage, ContentBlock } from "../../../conversation/message.ts";
import { isBlock } from "../../../conversation/message.ts";
import { stringField } from "../../../conversation/untrusted.ts";
import type { Mapping } from "./prompt.ts";
import { systemText } from "./system.ts";

/** A run of messages of one role. Some servers insist that user and assistant take turns. */
export interface Turn {
  readonly role: "user" | "assistant" | "system";
  readonly blocks: readonly ContentBlock[];
}

/** `keepsSystem`: system messages between the others stay what they are; otherwise the user says them. */
export function turnsOf(
  messages: readonly ApiMessage[],
  keepsSystem: boolean,
  mapping: Mapping,
): readonly Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const next = turnOf(message, keepsSystem, mapping);
    const last = turns.at(-1);
    if (last !== undefined && last.role === next.role && next.role !== "system") {
      turns[turns.length - 1] = { role: last.role, blocks: [...last.blocks, ...next.blocks] };
    } else turns.push(next);
  }
  return turns;
}

function turnOf(message: ApiMessage, keepsSystem: boolean, mapping: Mapping): Turn {
  const blocks = blocksOf(message, mapping);
  if (message.role === "assistant") return { role: "assistant", blocks };
  if (message.role !== "system") return { role: "user", blocks };
  for (const name of Object.keys(message)) {
    if (name !== "role" && name !== "content") mapping.changes.notSupported(`${name} of a system message`);
  }
  if (keepsSystem) return { role: "system", blocks };
  mapping.changes.notSupported("system messages between others, sent as the user's");
  return { role: "user", blocks: reminder(systemText(blocks, mapping)) };
}

function blocksOf(message: ApiMessage, { changes }: Mapping): readonly ContentBlock[] {
  const content: unknown = message.content;
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  const list: readonly unknown[] = Array.isArray(content) ? content : [];
  if (!list.every(isBlock)) changes.notSupported("unreadable blocks");
  return list.filter(isBlock);
}

/** Which calls of a turn are answered in the next one, and by which results. */
export interface Pairs {
  readonly calls: ReadonlySet<ContentBlock>;
  readonly answers: ReadonlyMap<ContentBlock, string>;
}

export function pairsOf(calling: Turn | undefined, answering: Turn | undefined): Pairs {
  const calls = new Set<ContentBlock>();
  const answers = new Map<ContentBlock, string>();
  if (calling?.role !== "assistant" || answering?.role !== "user") return { calls, answers };
  const open = new Map<string, ContentBlock>();
  for (const block of calling.blocks) {
    const id = block.type === "tool_use" ? stringField(block, "id") : undefined;
    if (id !== undefined && id !== "" && !open.has(id) && stringField(block, "name")) open.set(id, block);
  }
  for (const block of answering.blocks) {
    if (block.type !== "tool_result") continue;
    const call = open.get(block.tool_use_id);
    if (call === undefined) continue;
    open.delete(block.tool_use_id);
    calls.add(call);
    answers.set(block, stringField(call, "name") ?? "");
  }
  return { calls, answers };
}
