import type { Draft, DraftMessage } from "../draft.ts";
import { isEffortOnly } from "../effort-only.ts";

/** Only a final assistant message may be empty, and only if it was sent to us so; or one that sets the effort. */
export function dropEmptyMessages(draft: Draft): void {
  const last = draft.messages.at(-1);
  const kept = draft.messages.filter((message) => {
    if (message.parts.length > 0 || isEffortOnly(message)) return true;
    if (message === last && isEmptyPrefill(message)) return true;
    const text = "A message without content was left out.";
    draft.report({ rule: "message-empty", at: message.origin, message: text, action: "dropped" });
    return false;
  });
  if (kept.length !== draft.messages.length) draft.messages = kept;
}

function isEmptyPrefill(message: DraftMessage): boolean {
  return (
    message.role === "assistant" && message.source?.role === "assistant" && message.sourceBlocks?.length === 0
  );
}
