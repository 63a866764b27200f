import { type Entry, isEntry, rawContent } from "../../conversation/entry.ts";
import { contentText } from "../../conversation/untrusted.ts";
import { classifyUserText } from "../../summary/readers/readers.ts";

/** Whether a person wrote it, as opposed to all else that travels in user entries. */
export function isPersonsMessage(entry: Entry): boolean {
  if (!isEntry(entry) || entry.type !== "user") return false;
  if (entry.isMeta === true || entry.isCompactSummary === true) return false;
  return "text" in classifyUserText(contentText(rawContent(entry)));
}
