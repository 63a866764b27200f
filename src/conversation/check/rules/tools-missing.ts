import type { Draft } from "../draft.ts";
import type { CheckSettings } from "../rule.ts";

export function reportMissingTools(draft: Draft, settings: CheckSettings): void {
  if (!settings.requireTools || (draft.request.tools?.length ?? 0) > 0) return;
  for (const message of draft.messages) {
    const part = message.parts.find(({ block }) => block.type === "tool_use" || block.type === "tool_result");
    if (part === undefined) continue;
    const text = "The request holds tool blocks but defines no tools.";
    draft.report({ rule: "tools-missing", at: part.origin, message: text, action: "reported" });
    return;
  }
}
