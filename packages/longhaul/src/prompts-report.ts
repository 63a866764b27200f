import { sizeUp } from "@longhaul/core/internal/compaction";
import { timeOf } from "@longhaul/core/internal/messages";
import { countMessages } from "@longhaul/core/internal/request";
import type { Session } from "@longhaul/sessions";
import { promptIn } from "@longhaul/sessions/internal";
import type { Terminal } from "./terminal.ts";
import { formatShort, ID_SHOWN } from "./view/numbers.ts";
import { table } from "./view/sections.ts";
import { fitText, foldText } from "./view/text-width.ts";

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

const LONGEST_UUID = 36;
const TIME_WIDTH = 16;
const TOKENS_WIDTH = 6;
/** Between four columns. */
const SPACES_WIDTH = 6;

export function promptsView(
  prompts: readonly PromptReport[],
  { conversation }: Pick<Session, "conversation">,
  { colours, width }: Terminal,
): string {
  if (prompts.length === 0)
    return foldText(countMessages(conversation) === 0 ? NOTHING_SAID : NOTHING_WRITTEN, width);
  const uuidLength = tellingLength(prompts.map(({ uuid }) => uuid));
  const textRoom = width - uuidLength - TIME_WIDTH - TOKENS_WIDTH - SPACES_WIDTH;
  const rows = prompts.map(({ uuid, timestamp, tokensBefore, text }) => [
    colours.cyan(fitText(uuid.slice(0, uuidLength), uuidLength)),
    fitText(timestamp.replace("T", " ").slice(0, TIME_WIDTH), TIME_WIDTH),
    formatShort(tokensBefore),
    fitText(text, textRoom),
  ]);
  const columns = ["message", "time", ">before", "what was asked"];
  return `${table(columns, rows, { colours })}\n\n${colours.dim(foldText(HINT, width))}`;
}

const NOTHING_SAID = "Nothing has been said in this session yet.";
const NOTHING_WRITTEN =
  "The user has written nothing that is in the context now: it was compacted, or is a subagent's session.";
const HINT =
  "before: the tokens of what came before. compact --up-to MESSAGE summarises that; compact --from MESSAGE summarises the message and what came after.";

/** The shortest beginnings by which these are all different. */
export function tellingLength(uuids: readonly string[]): number {
  let length = ID_SHOWN;
  while (length < LONGEST_UUID && new Set(uuids.map((uuid) => uuid.slice(0, length))).size < uuids.length)
    length++;
  return length;
}
