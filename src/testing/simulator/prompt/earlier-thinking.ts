import { asList, listField, stringField } from "../../../conversation/fields.ts";
import { isRecord, type JsonRecord } from "../../../conversation/untrusted.ts";
import type { SimulatedModel } from "../exchange.ts";

/**
 * Older models see the thinking of the current turn only. A request that says itself which thinking to
 * keep has had its edit applied before the prompt is built.
 */
export function stripsEarlierThinking(body: JsonRecord, model: SimulatedModel): boolean {
  if (model.features.keepsEarlierThinking) return false;
  const edits = listField(body.context_management, "edits");
  return !edits.some((edit) => stringField(edit, "type")?.startsWith("clear_thinking_"));
}

/** Index of the last message in which the user says something: tool results alone continue a turn. */
export function lastOwnTurn(messages: readonly unknown[]): number {
  return messages.findLastIndex((message) => isRecord(message) && message.role === "user" && speaks(message));
}

function speaks(message: JsonRecord): boolean {
  if (typeof message.content === "string") return true;
  return asList(message.content).some((block) => isRecord(block) && block.type !== "tool_result");
}
