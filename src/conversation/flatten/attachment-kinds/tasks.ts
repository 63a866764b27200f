import type { ContentBlock } from "../../message.ts";
import type { JsonRecord } from "../../untrusted.ts";
import { recordsField, textField } from "../attachment-fields.ts";
import { reminder } from "../reminder.ts";

/** The list of tasks as it stands; agents have called the field for the wording by several names. */
export function taskList(attachment: JsonRecord): readonly ContentBlock[] {
  const items = ["content", "todos", "tasks"].map((name) => recordsField(attachment, name));
  const lines = items.flat().map((item) => {
    const status = textField(item, "status") || "pending";
    const id = textField(item, "id");
    return `- ${id === "" ? "" : `#${id} `}[${status}] ${wordingOf(item)}`;
  });
  return reminder(lines.length === 0 ? "The task list is empty." : `The task list:\n${lines.join("\n")}`);
}

function wordingOf(item: JsonRecord): string {
  const names = ["content", "subject", "title", "description"];
  return names.map((name) => textField(item, name)).find((text) => text !== "") ?? JSON.stringify(item);
}

export function diagnostics(attachment: JsonRecord): readonly ContentBlock[] {
  const lines = recordsField(attachment, "files").flatMap((file) => {
    const path = textField(file, "uri") || textField(file, "path");
    const found = recordsField(file, "diagnostics").map((problem) => {
      const severity = textField(problem, "severity") || "Problem";
      return `- ${severity}: ${textField(problem, "message")}`;
    });
    return found.length === 0 ? [] : [path, ...found];
  });
  return lines.length === 0 ? [] : reminder(`New problems reported by the editor:\n${lines.join("\n")}`);
}
