import { isThinking } from "../../message.ts";
import type { Draft, DraftMessage } from "../draft.ts";

/**
 * An assistant message cannot end in thinking. Such thinking led to nothing that was kept; it is removed
 * whole, since a thinking block may never be changed.
 */
export function dropTrailingThinking(draft: Draft): void {
  const kept = draft.messages.filter((message) => {
    const end = message.role === "assistant" ? endBeforeThinking(message) : message.parts.length;
    if (end === message.parts.length) return true;
    const detail = { blocks: message.parts.length - end };
    if (end === 0) {
      const text = "An assistant message of nothing but thinking was left out.";
      draft.report({ rule: "thinking-only", at: message.origin, message: text, action: "dropped", detail });
      return false;
    }
    const at = message.parts[end]?.origin ?? message.origin;
    const text = "An assistant message cannot end in thinking; the thinking at its end was left out.";
    draft.report({ rule: "thinking-last", at, message: text, action: "dropped", detail });
    message.parts = message.parts.slice(0, end);
    return true;
  });
  if (kept.length !== draft.messages.length) draft.messages = kept;
}

function endBeforeThinking(message: DraftMessage): number {
  return message.parts.findLastIndex((part) => !isThinking(part.block)) + 1;
}
