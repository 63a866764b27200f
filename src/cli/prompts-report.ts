import { sizeUp } from "../compact/sized.ts";
import type { Entry } from "../conversation/entry.ts";
import { contentText, field } from "../conversation/fields.ts";
import { entryBlocks, rawContent } from "../conversation/untrusted.ts";
import { classifyUserText } from "../summary/builtin/read/human.ts";
import type { Session } from "../transcript/session.ts";

/** A message that the user wrote, by which a place in the conversation can be named. */
export interface PromptReport {
  readonly uuid: string;
  readonly timestamp: string;
  /** What the messages before it hold: what `compact --up-to` would summarise. */
  readonly tokensBefore: number;
  readonly text: string;
}

const HUMAN_KINDS: ReadonlySet<string> = new Set(["request", "command", "shell"]);

/** What the user wrote, oldest first, in the part of the session that is in the context. */
export function promptsOf({
  conversation,
  clearedToolUseIds,
}: Pick<Session, "conversation" | "clearedToolUseIds">): readonly PromptReport[] {
  const { entries, tokens } = sizeUp({ entries: conversation, clearedToolUseIds }, {});
  const prompts: PromptReport[] = [];
  let tokensBefore = 0;
  for (const [index, entry] of entries.entries()) {
    const text = promptIn(entry);
    if (text !== undefined && entry.uuid !== undefined && entry.timestamp !== undefined) {
      const { uuid, timestamp } = entry;
      prompts.push({ uuid, timestamp, tokensBefore: Math.round(tokensBefore), text });
    }
    tokensBefore += tokens[index] ?? 0;
  }
  return prompts;
}

function promptIn(entry: Entry): string | undefined {
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
