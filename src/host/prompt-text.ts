import { type Entry, entryBlocks, rawContent } from "../conversation/entry.ts";
import { contentText, field } from "../conversation/untrusted.ts";
import { classifyUserText } from "../summary/readers/readers.ts";

const HUMAN_KINDS: ReadonlySet<string> = new Set(["request", "command", "shell"]);

/** What the user wrote, of an entry that is a prompt. */
export function promptIn(entry: Entry): string | undefined {
  const written = writtenText(entry);
  if (written === undefined) return undefined;
  const said = classifyUserText(written);
  return HUMAN_KINDS.has(said.kind) && "text" in said ? said.text : undefined;
}

/** What was typed while the agent worked has no user entry of its own. */
function writtenText(entry: Entry): string | undefined {
  if (entry.type === "attachment") {
    const isQueued = field(entry.attachment, "type") === "queued_command";
    return isQueued ? contentText(field(entry.attachment, "prompt")) : undefined;
  }
  if (entry.type !== "user" || entry.isMeta === true || entry.isCompactSummary === true) return undefined;
  if (entryBlocks(entry).some(({ type }) => type === "tool_result")) return undefined;
  return contentText(rawContent(entry));
}
