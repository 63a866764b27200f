import { tagOf } from "../../message.ts";
import { addedMessage, type Draft, textPart } from "../draft.ts";
import { isEffortOnly } from "../effort-only.ts";

export const EARLIER_PART_MISSING_TEXT = "[The earlier part of this conversation is not included]";

/** A first message of the assistant is legal only if it begins with the provider's own summary. */
export function startWithUser(draft: Draft): void {
  const [opening] = draft.messages;
  if (opening === undefined) {
    const message = "There is no message to send.";
    draft.report({ rule: "no-messages", at: "messages", message, action: "reported" });
    return;
  }
  const first = draft.messages.find((message) => !isEffortOnly(message)) ?? opening;
  const beginsWithSummary = first.parts[0] !== undefined && tagOf(first.parts[0].block) === "compaction";
  if (first.role === "user" || (first.role === "assistant" && beginsWithSummary)) return;
  const message = "The first message must be the user's; one was put before it.";
  draft.report({ rule: "first-role", at: first.origin, message, action: "text-added" });
  draft.messages = [
    addedMessage("user", [textPart(EARLIER_PART_MISSING_TEXT, first.origin)], first.origin),
    ...draft.messages,
  ];
}
