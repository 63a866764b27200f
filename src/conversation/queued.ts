import type { Entry, UserEntry } from "./entry.ts";
import { field } from "./untrusted.ts";

/** Text that an agent's harness put into the queue or into a user entry: nobody typed it. */
const HARNESS_TEXT = /^\s*<(?:task-notification|teammate-message|agent-message|fork-boilerplate|tick)\b/;
/** A path such as `/usr/lib` is no command. */
const SLASH_COMMAND = /^\s*\/[\w:.-]+(?:\s|$)/;

/** A line about the queue. It is no entry of the conversation. */
export const isQueueOperation = (entry: Entry): boolean => (entry.type as string) === "queue-operation";

export const isHarnessText = (text: string): boolean => HARNESS_TEXT.test(text);

export const isSlashCommand = (text: string): boolean => SLASH_COMMAND.test(text);

/** True for a text in the queue that is a message to the agent, not a notification or a slash command. */
export function isTypedMessage(text: string): boolean {
  return text.trim() !== "" && !isHarnessText(text) && !isSlashCommand(text);
}

/**
 * A message that the user typed while the agent worked and that has no line of its own: the reader made the entry
 * from queue lines. No other line can name it as its parent.
 */
export function isFromQueue(entry: Entry): entry is UserEntry & { readonly fromQueue: true } {
  return entry.type === "user" && field(entry, "fromQueue") === true;
}

/** The newest of these entries that has a line: the parent of the next line. */
export function newestLineUuid(entries: readonly Entry[]): string | undefined {
  return entries.findLast((entry) => entry.uuid !== undefined && !isFromQueue(entry))?.uuid;
}
