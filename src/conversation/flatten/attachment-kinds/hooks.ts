import type { ContentBlock } from "../../message.ts";
import type { JsonRecord } from "../../untrusted.ts";
import { recordField, stringsField, textField } from "../attachment-fields.ts";
import { reminder } from "../reminder.ts";

/** Events whose hooks speak to the model by their plain output. The output of others is for the screen. */
const HEARD_EVENTS: ReadonlySet<string> = new Set(["SessionStart", "UserPromptSubmit"]);

/** Output of a hook that succeeded. */
export function hookOutput(attachment: JsonRecord): readonly ContentBlock[] {
  const event = textField(attachment, "hookEvent") || textField(attachment, "hookName").split(":")[0] || "";
  return HEARD_EVENTS.has(event) ? hookContext(attachment) : [];
}

/** Context that a hook adds on purpose. A hook that ran without any output leaves nothing. */
export function hookContext(attachment: JsonRecord): readonly ContentBlock[] {
  const said = stringsField(attachment, "content").join("\n").trim();
  return said === "" ? [] : reminder(`${hookOf(attachment)}:\n${said}`);
}

/** The reason why a hook blocked something. */
export function blockingHook(attachment: JsonRecord): readonly ContentBlock[] {
  const error = textField(recordField(attachment, "blockingError"), "blockingError").trim();
  return error === "" ? [] : reminder(`${hookOf(attachment)} blocked this:\n${error}`);
}

function hookOf(attachment: JsonRecord): string {
  const name = textField(attachment, "hookName") || textField(attachment, "hookEvent");
  return name === "" ? "A hook" : `${name} hook`;
}
