import type { Draft } from "../draft.ts";
import { MAX_MESSAGES } from "../limits.ts";

export function reportTooManyMessages(draft: Draft): void {
  const count = draft.messages.length;
  if (count <= MAX_MESSAGES) return;
  const message = `A request may hold ${MAX_MESSAGES.toLocaleString("en-US")} messages at most.`;
  draft.report({ rule: "message-count", at: "messages", message, action: "reported", detail: { count } });
}
