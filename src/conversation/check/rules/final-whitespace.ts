import type { Draft } from "../draft.ts";
import { withBlock } from "../rewrite.ts";

export function trimFinalAssistantText(draft: Draft): void {
  const last = draft.messages.at(-1);
  const part = last?.parts.at(-1);
  if (last?.role !== "assistant" || part?.block.type !== "text") return;
  const text = part.block.text.trimEnd();
  if (text === part.block.text) return;
  const message = "The final assistant text cannot end in whitespace; the whitespace was cut off.";
  draft.report({ rule: "final-whitespace", at: part.origin, message, action: "truncated" });
  last.parts = [...last.parts.slice(0, -1), withBlock(part, { ...part.block, text })];
}
