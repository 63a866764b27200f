import { isThinking, tagOf } from "../../block.ts";
import type { Draft } from "../draft.ts";

/** Blocks that the provider itself puts before a reply. */
const OF_THE_PROVIDER: ReadonlySet<string> = new Set(["compaction", "fallback"]);

/** With thinking of type `enabled` the turn that is being answered by tool results begins with thinking. */
export function reportToolTurnWithoutThinking(draft: Draft): void {
  if (draft.request.thinking?.type !== "enabled") return;
  const lastSpoken = draft.messages.findLastIndex((message) => message.role !== "system");
  const turn = draft.messages[lastSpoken - 1];
  const first = turn?.parts.find((part) => !OF_THE_PROVIDER.has(tagOf(part.block)));
  if (turn?.role !== "assistant" || first === undefined || isThinking(first.block)) return;
  if (!turn.parts.some((part) => part.block.type === "tool_use")) return;
  const message = "With thinking enabled, an assistant turn that calls tools must begin with thinking.";
  draft.report({ rule: "thinking-not-first", at: turn.origin, message, action: "reported" });
}
