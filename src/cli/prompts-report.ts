import { sizeUp } from "../compaction/plan/sized.ts";
import { timeOf } from "../conversation/copies.ts";
import { promptIn } from "../host/prompt-text.ts";
import type { Session } from "../transcript/session.ts";

/** A message that the user wrote, by which a place in the conversation can be named. */
export interface PromptReport {
  readonly uuid: string;
  readonly timestamp: string;
  /** What the messages before it hold: what `compact --up-to` would summarise. */
  readonly tokensBefore: number;
  readonly text: string;
}

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
    const timestamp = timeOf(entry);
    if (text !== undefined && entry.uuid !== undefined && timestamp !== undefined) {
      const { uuid } = entry;
      prompts.push({ uuid, timestamp, tokensBefore: Math.round(tokensBefore), text });
    }
    tokensBefore += tokens[index] ?? 0;
  }
  return prompts;
}
