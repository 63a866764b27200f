import type { Entry } from "../conversation/entry.ts";
import { contentText } from "../conversation/fields.ts";
import { entryBlocks, rawContent } from "../conversation/untrusted.ts";
import { classifyUserText } from "../summary/builtin/read/human.ts";

/** A message that the user wrote, by which a place in the conversation can be named. */
export interface PromptReport {
  readonly uuid: string;
  readonly timestamp: string;
  readonly text: string;
}

const HUMAN_KINDS: ReadonlySet<string> = new Set(["request", "command", "shell"]);

/** What the user wrote, oldest first, in the part of the session that is in the context. */
export function promptsOf(conversation: readonly Entry[]): readonly PromptReport[] {
  return conversation.flatMap((entry) => {
    if (entry.type !== "user" || entry.isMeta === true || entry.isCompactSummary === true) return [];
    if (entryBlocks(entry).some(({ type }) => type === "tool_result")) return [];
    const said = classifyUserText(contentText(rawContent(entry)));
    if (!HUMAN_KINDS.has(said.kind) || !("text" in said)) return [];
    return [{ uuid: entry.uuid, timestamp: entry.timestamp, text: said.text }];
  });
}
