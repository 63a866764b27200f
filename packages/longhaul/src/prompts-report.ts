import { measureConversation } from "@longhaul/core/internal/compaction";
import { timeOf } from "@longhaul/core/internal/messages";
import { countMessages } from "@longhaul/core/internal/request";
import type { Session } from "@longhaul/sessions";
import { promptIn } from "@longhaul/sessions/internal";
import type { Terminal } from "./terminal.ts";
import { formatShort, formatTime, ID_SHOWN } from "./view/numbers.ts";
import { type Columns, table } from "./view/sections.ts";
import { fitText, foldText } from "./view/text-width.ts";

/** A message of the user that identifies a position in the conversation. */
export interface PromptReport {
  readonly uuid: string;
  readonly timestamp: string;
  /** Tokens of the messages before the prompt, which `compact --up-to` would summarize. */
  readonly tokensBefore: number;
  readonly text: string;
}

/** Returns the messages of the user in the context, oldest first. */
export function promptsOf({
  conversation,
  clearedToolUseIds,
}: Pick<Session, "conversation" | "clearedToolUseIds">): readonly PromptReport[] {
  const { entries, tokens } = measureConversation({ entries: conversation, clearedToolUseIds }, {});
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

const LONGEST_UUID = 36;
const COLUMNS: Columns = [
  "message",
  { title: "time", rank: 1 },
  ">before",
  { title: "prompt", cut: "end", least: 20 },
];

export function promptsView(
  prompts: readonly PromptReport[],
  { conversation }: Pick<Session, "conversation">,
  { colors, width }: Terminal,
): string {
  if (prompts.length === 0)
    return foldText(countMessages(conversation) === 0 ? NOTHING_SAID : NOTHING_WRITTEN, width);
  const uuidLength = uniqueIdLength(prompts.map(({ uuid }) => uuid));
  const rows = prompts.map(({ uuid, timestamp, tokensBefore, text }) => [
    colors.cyan(fitText(uuid.slice(0, uuidLength), uuidLength)),
    formatTime(timestamp),
    formatShort(tokensBefore),
    text,
  ]);
  return `${table(COLUMNS, rows, { colors, width })}\n\n${colors.dim(foldText(HINT, width))}`;
}

const NOTHING_SAID = "This session has no messages yet.";
const NOTHING_WRITTEN =
  "The context contains no user prompts. They were compacted, or this is a subagent's session.";
const HINT =
  "before: tokens before the prompt. `compact --up-to MESSAGE` summarizes everything before that message. `compact --from MESSAGE` summarizes that message and everything after it.";

/** Returns the shortest prefix length at which all of these uuids differ. */
export function uniqueIdLength(uuids: readonly string[]): number {
  let length = ID_SHOWN;
  while (length < LONGEST_UUID && new Set(uuids.map((uuid) => uuid.slice(0, length))).size < uuids.length)
    length++;
  return length;
}
