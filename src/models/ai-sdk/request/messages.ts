import type { ApiMessage } from "../../../conversation/message.ts";
import { assistantParts } from "./assistant.ts";
import type { Mapping, PromptMessage } from "./prompt.ts";
import { systemMessage } from "./system.ts";
import { pairsOf, turnsOf } from "./turns.ts";
import { userMessages } from "./user.ts";

/** `hasSystem`: without a system prompt Anthropic's provider would move a later system message to the front. */
export function promptMessages(
  messages: readonly ApiMessage[],
  hasSystem: boolean,
  mapping: Mapping,
): readonly PromptMessage[] {
  const keepsSystem = mapping.dialect.systemAnywhere && hasSystem;
  const turns = turnsOf(messages, keepsSystem, mapping);
  return turns.flatMap((turn, index): readonly PromptMessage[] => {
    if (turn.role === "system") return turn.blocks.flatMap((block) => systemMessage(block, mapping));
    if (turn.role === "user") {
      return userMessages(turn.blocks, pairsOf(turns[index - 1], turn).answers, mapping);
    }
    const parts = assistantParts(turn.blocks, pairsOf(turn, turns[index + 1]).calls, mapping);
    return parts.length === 0 ? [] : [{ role: "assistant", content: parts }];
  });
}
