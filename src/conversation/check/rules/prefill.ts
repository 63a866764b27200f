import { claudeVersion, isAtLeast } from "../../claude-version.ts";
import { tagOf } from "../../message.ts";
import { field, isRecord } from "../../untrusted.ts";
import { addedMessage, type Draft, type DraftMessage, textPart } from "../draft.ts";
import { FIRST_VERSION_WITHOUT_PREFILL } from "../limits.ts";
import type { CheckSettings } from "../rule.ts";
import { serverToolResult, serverToolUse } from "../server-tools.ts";

export const GO_ON_TEXT = "Go on from where you stopped.";

export function endWithUserWherePrefillIsRefused(draft: Draft, settings: CheckSettings): void {
  const last = draft.messages.at(-1);
  const { model } = draft.request;
  if (last?.role !== "assistant" || isPausedTurn(last) || !refusesPrefill(model)) return;
  // A request to summarise the conversation is not one to go on with it.
  if (isRecord(field(draft.request, "compaction"))) return;
  const adds = settings.prefill === "add-user-message";
  draft.report({
    rule: "prefill-unsupported",
    at: last.origin,
    message: "This model needs a conversation that ends with a user message.",
    action: adds ? "text-added" : "reported",
    detail: { model: String(model) },
  });
  if (adds)
    draft.messages = [
      ...draft.messages,
      addedMessage("user", [textPart(GO_ON_TEXT, last.origin)], last.origin),
    ];
}

/** A turn that the provider paused, in the middle of its own tools or after its own summary, is sent back as it is. */
function isPausedTurn(message: DraftMessage): boolean {
  const last = message.parts.at(-1);
  if (last === undefined) return false;
  if (tagOf(last.block) === "compaction") return true;
  return (serverToolUse(last.block) ?? serverToolResult(last.block)) !== undefined;
}

export function refusesPrefill(model: unknown): boolean {
  const { major, minor } = FIRST_VERSION_WITHOUT_PREFILL;
  return isAtLeast(claudeVersion(model), major, minor);
}
