import { type Entry, isCompactBoundary, isEntry, type UserEntry } from "./entry.ts";
import { isSnipMarker } from "./stand-ins.ts";
import { field, stringField, stringListField } from "./untrusted.ts";

/**
 * Relations between messages and lines of a session file. They are the copies of lines, the messages from the
 * queue, which have no line, and the parent of the next line.
 */

/**
 * Maximum number of ids in `copyOf`: the original and the newest copies. The newest are enough, because
 * people and notes use ids that they saw recently.
 */
const MAX_COPIED_IDS = 8;

const NONE: readonly string[] = [];

/**
 * Returns the ids of the lines that an entry copies. A compaction or an undo may write a message again under
 * a new id. The copy can also be found by the old ids. Ignores the line's own id and ids of the wrong type,
 * because files are untrusted.
 */
export function copiedIds(entry: unknown): readonly string[] {
  if (field(entry, "copyOf") === undefined) return NONE;
  const single = stringField(entry, "copyOf");
  const ids = single === undefined ? stringListField(entry, "copyOf") : [single];
  const own = field(entry, "uuid");
  return ids.length === 0 ? ids : ids.filter((id) => id !== "" && id !== own).slice(0, MAX_COPIED_IDS);
}

export interface CopyFields {
  /** Ids of the copied lines: the original first, then the newest copies. */
  readonly copyOf: readonly string[];
}

export function copyFields(original: Entry & { readonly uuid: string }): CopyFields {
  const [first, ...copies] = [...copiedIds(original), original.uuid];
  return { copyOf: [first as string, ...copies.slice(1 - MAX_COPIED_IDS)] };
}

/**
 * Returns the time of a message. A copy may have the time of copying in `timestamp` and the original time in
 * another field.
 */
export const timeOf = (entry: Entry): string | undefined =>
  stringField(entry, "originalTimestamp") ?? stringField(entry, "timestamp");

/**
 * Returns the kept messages that come after the boundary of their compaction. They are copies, or lines that
 * the boundary lists.
 */
export function keptMessagesAfterBoundary(entries: readonly Entry[]): ReadonlySet<Entry> {
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

/**
 * Returns the index of the message with this id. If there is none, returns the index of its first copy. If
 * there is no copy either, returns -1.
 */
export function indexOfMessage(entries: readonly Entry[], id: string): number {
  const exact = entries.findIndex((entry) => isEntry(entry) && entry.uuid === id);
  return exact === -1 ? entries.findIndex((entry) => copiedIds(entry).includes(id)) : exact;
}

/**
 * Returns the index of a message in a conversation. If the id belongs to another line of the file, finds the
 * copy or the original of that line.
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

/** Text that an agent's harness put into the queue or a user entry. No person typed it. */
const HARNESS_TEXT = /^\s*<(?:task-notification|teammate-message|agent-message|fork-boilerplate|tick)\b/;
/** A slash command. Does not match a path such as `/usr/lib`. */
const SLASH_COMMAND = /^\s*\/[\w:.-]+(?:\s|$)/;

/** Returns true for a line about the queue, which is not part of the conversation. */
export const isQueueOperation = (entry: Entry): boolean => (entry.type as string) === "queue-operation";

export const isHarnessText = (text: string): boolean => HARNESS_TEXT.test(text);

export const isSlashCommand = (text: string): boolean => SLASH_COMMAND.test(text);

/** Returns true for a queued text that is a message to the agent, not a notification or a slash command. */
export function isTypedMessage(text: string): boolean {
  return text.trim() !== "" && !isHarnessText(text) && !isSlashCommand(text);
}

/**
 * Returns true for a message that the user typed while the agent worked and that has no line. The reader
 * created the entry from queue lines, so no line can have it as its parent.
 */
export function isFromQueue(entry: Entry): entry is UserEntry & { readonly fromQueue: true } {
  return entry.type === "user" && field(entry, "fromQueue") === true;
}

/** Returns the uuid of the newest entry that has a line. This uuid becomes the parent of the next line. */
export function newestLineUuid(entries: readonly Entry[]): string | undefined {
  return entries.findLast((entry) => entry.uuid !== undefined && !isFromQueue(entry))?.uuid;
}

/**
 * Returns the newest line of the conversation. It may be a marker in the middle of the conversation. Such a
 * marker replaces older messages, but was written last.
 */
export function newestLine(entries: readonly Entry[]): Entry | undefined {
  const after = new Map<string | null, Entry>();
  for (const entry of entries) if (isSnipMarker(entry)) after.set(entry.parentUuid, entry);
  let newest = entries.findLast((entry) => isEntry(entry) && entry.uuid !== undefined && !isFromQueue(entry));
  for (let steps = after.size; steps > 0; steps--) newest = after.get(newest?.uuid ?? "") ?? newest;
  return newest;
}
