import { claudeVersion, isAtLeast } from "../../claude-version.ts";
import type { Draft } from "../draft.ts";
import { FIRST_VERSION_WITH_SYSTEM_MESSAGES } from "../limits.ts";
import { asUserMessage } from "./system-placement.ts";

/** Older models take the system prompt alone; what is said later in its name is then the user's. */
export function replaceUnsupportedSystemMessages(draft: Draft): void {
  if (!draft.messages.some((message) => message.role === "system")) return;
  if (takesSystemMessages(draft.request.model)) return;
  draft.messages = draft.messages.map((message) => {
    if (message.role !== "system") return message;
    const text = "This model takes no system messages inside the conversation; it is sent as the user's.";
    draft.report({ rule: "system-unsupported", at: message.origin, message: text, action: "rewritten" });
    return asUserMessage(message);
  });
}

/** Names of before the fourth generation carry the version first. What is no Claude's name is let through. */
function takesSystemMessages(model: unknown): boolean {
  const version = claudeVersion(model);
  const { major, minor } = FIRST_VERSION_WITH_SYSTEM_MESSAGES;
  if (version !== undefined) return isAtLeast(version, major, minor);
  return typeof model !== "string" || !/claude-\d/.test(model);
}
