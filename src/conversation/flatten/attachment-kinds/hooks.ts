import type { ContentBlock } from "../../block.ts";
import type { JsonRecord } from "../../untrusted.ts";
import { stringsField, textField } from "../attachment-fields.ts";
import { reminder } from "../reminder.ts";

/** What a hook said. A hook that ran and said nothing leaves nothing. */
export function hookOutput(attachment: JsonRecord): readonly ContentBlock[] {
  const said = stringsField(attachment, "content").join("\n").trim();
  if (said === "") return [];
  const hook = textField(attachment, "hookName") || textField(attachment, "hookEvent") || "A hook";
  return reminder(`${hook} hook:\n${said}`.replace(/^A hook hook/, "A hook"));
}
