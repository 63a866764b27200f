import type { Draft, Fault } from "../draft.ts";
import { MAX_MESSAGES } from "../limits.ts";

export function reportTooManyMessages(draft: Draft): void {
  const fault = messageCountFault(draft.messages.length);
  if (fault !== undefined) draft.report(fault);
}

export function messageCountFault(count: number): Fault | undefined {
  if (count <= MAX_MESSAGES) return undefined;
  const message = `A request may hold ${MAX_MESSAGES.toLocaleString("en-US")} messages at most.`;
  return { rule: "message-count", at: "messages", message, action: "reported", detail: { count } };
}
