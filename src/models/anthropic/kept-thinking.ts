import type { ApiMessage } from "../../conversation/message.ts";
import { contentBlocks, isThinking } from "../../conversation/message.ts";
import { claudeFeatures } from "../../window/claude-features.ts";
import type { ModelRequest } from "../port.ts";

/**
 * Whether another message of the user would change what the model sees of this conversation, and so its cached
 * prefix: older models forget the thinking of a turn as soon as the user speaks again, unless the request says
 * otherwise.
 */
export function forgetsThinkingAtNextTurn(
  model: string,
  { messages, context_management }: ModelRequest,
): boolean {
  if (claudeFeatures(model).keepsEarlierThinking) return false;
  if (context_management?.edits.some(({ type }) => type.startsWith("clear_thinking_"))) return false;
  const turn = messages.slice(messages.findLastIndex(speaks) + 1);
  return turn.some(({ content }) => contentBlocks(content).some(isThinking));
}

/** Results of tools alone continue a turn. */
const speaks = ({ role, content }: ApiMessage): boolean =>
  role === "user" && contentBlocks(content).some(({ type }) => type !== "tool_result");
