import { isThinking } from "../../block.ts";
import type { Draft } from "../draft.ts";

/** With thinking of type `enabled` the turn that is being answered by tool results begins with thinking. */
export function reportToolTurnWithoutThinking(draft: Draft): void {
  if (draft.request.thinking?.type !== "enabled") return;
  const turn = draft.messages.at(-2);
  const first = turn?.parts[0];
  if (turn?.role !== "assistant" || first === undefined || isThinking(first.block)) return;
  if (!turn.parts.some((part) => part.block.type === "tool_use")) return;
  const message = "With thinking enabled, an assistant turn that calls tools must begin with thinking.";
  draft.report({ rule: "thinking-not-first", at: turn.origin, message, action: "reported" });
}
