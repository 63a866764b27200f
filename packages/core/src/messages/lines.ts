import { type Entry, isCompactBoundary, isEntry, type UserEntry } from "./entry.ts";
import { isSnipMarker } from "./stand-ins.ts";
import { field, stringField, stringListField } from "./untrusted.ts";

/**
 * The line of a session file that a message is: a copy answers to the ids of the lines it copies, a message from the
 * queue has no line, and the next line hangs on the newest one.
 */

/** The original and the newest copies are enough: people and notes name a message by an id they saw lately. */
const MOST_COPIED_IDS = 8;

const NONE: readonly string[] = [];

/**
 * A compaction or an undo may write a message again under a new id. The copy names the lines that it copies, and
 * answers to their ids. Files are not trusted: a line that claims itself, or ids of the wrong type, claims nothing.
 */
export function copiedIds(entry: unknown): readonly string[] {
  if (field(entry, "copyOf") === undefined) return NONE;
  const single = stringField(entry, "copyOf");
  const ids = single === undefined ? stringListField(entry, "copyOf") : [single];
  const own = field(entry, "uuid");
  return ids.length === 0 ? ids : ids.filter((id) => id !== "" && id !== own).slice(0, MOST_COPIED_IDS);
}

export interface CopyFields {
  /** Ids of the lines that it copies: the original first, then the newest copies. */
  readonly copyOf: readonly string[];
}

export function copyFields(original: Entry & { readonly uuid: string }): CopyFields {
  const [first, ...copies] = [...copiedIds(original), original.uuid];
  return { copyOf: [first as string, ...copies.slice(1 - MOST_COPIED_IDS)] };
}

/** When a message was said. The last copy of a write has the time of that write, and tells the original one beside it. */
export const timeOf = (entry: Entry): string | undefined =>
  stringField(entry, "originalTimestamp") ?? stringField(entry, "timestamp");

/** Messages that follow the compaction that kept them: copies, and lines that a boundary above them names. */
export function keptMessagesBelow(entries: readonly Entry[]): ReadonlySet<Entry> {
  const named = new Set<string>();
  const kept = new Set<Entry>();
  for (const entry of entries) {
    if (!isEntry(entry)) continue;
    if (isCompactBoundary(entry)) {
      const preserved = field(entry.compactMetadata, "preservedMessages");
      for (const uuid of stringListField(preserved, "uuids")) named.add(uuid);
    } else if (named.has(entry.uuid ?? "") || copiedIds(entry).length > 0) kept.add(entry);
  }
  return kept;
}

/** The index of the message with this id, or else of the first copy that answers to it; -1 where there is none. */
export function indexOfMessage(entries: readonly Entry[], id: string): number {
  const exact = entries.findIndex((entry) => isEntry(entry) && entry.uuid === id);
  return exact === -1 ? entries.findIndex((entry) => copiedIds(entry).includes(id)) : exact;
}

/**
 * The same in a conversation whose file has more lines. The id of a line that has left the conversation names its copy
 * or its original there.
 */
export function indexInConversation(
  conversation: readonly Entry[],
  lines: readonly Entry[],
  id: string,
): number {
  const index = indexOfMessage(conversation, id);
  if (index !== -1) return index;
  const left = lines[indexOfMessage(lines, id)];
  for (const original of copiedIds(left).toReversed()) {
    const copied = indexOfMessage(conversation, original);
    if (copied !== -1) return copied;
  }
  return -1;
}

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

/** The newest line of the conversation: a marker stands where messages were, though it was written after them all. */
export function newestLine(entries: readonly Entry[]): Entry | undefined {
  const after = new Map<string | null, Entry>();
  for (const entry of entries) if (isSnipMarker(entry)) after.set(entry.parentUuid, entry);
  let newest = entries.findLast((entry) => isEntry(entry) && entry.uuid !== undefined && !isFromQueue(entry));
  for (let steps = after.size; steps > 0; steps--) newest = after.get(newest?.uuid ?? "") ?? newest;
  return newest;
}
