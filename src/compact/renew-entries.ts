import { type CollapsedSpan, isCollapsedSpan } from "../conversation/collapsed.ts";
import { copyFields, timeOf } from "../conversation/copies.ts";
import type { Entry, EntryLink } from "../conversation/entry.ts";
import { isSentAttachment } from "../conversation/flatten/attachment-content.ts";
import { isFromQueue } from "../conversation/queued.ts";
import { isSnipMarker, type SnipMarker } from "../conversation/snipped.ts";
import type { CompactionPorts } from "./host-fields.ts";

export type Linked = Extract<Entry, EntryLink>;

/**
 * Kept messages as new entries. They get new ids, because a reader that gathers a response by its id would find the
 * old lines too, and answer to the old ids. They have no usage, since the figures of the long conversation no longer
 * hold. They keep their times, except for the last message and what follows it: some readers continue from the newest
 * line by its time, and would find the old end of the conversation.
 */
export function renewEntries(
  kept: readonly Entry[],
  parentUuid: string,
  ports: CompactionPorts,
): readonly Linked[] {
  const messageIds = new Map<string, string>();
  const uuids = new Map<string, string>();
  const renewed: Linked[] = [];
  const linked = kept.filter(isLinked);
  const last = linked.findLastIndex(({ type }) => type === "user" || type === "assistant");
  let parent = parentUuid;
  for (const [at, entry] of linked.entries()) {
    const content = contentToKeep(entry, uuids);
    if (content === undefined) continue;
    const uuid = ports.newUuid();
    uuids.set(entry.uuid, uuid);
    const timed = withTime(withNewMessageId(content, messageIds, ports), at >= last, ports);
    renewed.push({ ...timed, ...copyFields(entry), uuid, parentUuid: parent });
    parent = uuid;
  }
  return renewed;
}

/** Times come from a file, and anything may stand there. */
function withTime(line: Linked, isLast: boolean, ports: CompactionPorts): Linked {
  const { originalTimestamp: _, ...rest } = line;
  const original = timeOf(line);
  const now = ports.now().toISOString();
  if (original === undefined || Number.isNaN(Date.parse(original))) return { ...rest, timestamp: now };
  return isLast ? { ...rest, timestamp: now, originalTimestamp: original } : { ...rest, timestamp: original };
}

function contentToKeep(entry: Linked, uuids: ReadonlyMap<string, string>): Linked | undefined {
  if (entry.type === "progress" || entry.type === "system") return undefined;
  // For a host that reads no attachments, it would become an empty message.
  if (entry.type === "attachment" && !isSentAttachment(entry)) return undefined;
  if (isSnipMarker(entry) || isCollapsedSpan(entry)) return settled(entry);
  if (isFromQueue(entry)) {
    const { fromQueue: _, ...line } = entry;
    return line;
  }
  if (entry.type === "user" && entry.sourceToolAssistantUUID !== undefined) {
    const source = uuids.get(entry.sourceToolAssistantUUID) ?? entry.sourceToolAssistantUUID;
    return { ...entry, sourceToolAssistantUUID: source };
  }
  if (entry.type !== "assistant" || !entry.message) return entry;
  if (entry.message.content?.length === 0) return undefined;
  return { ...entry, message: { ...entry.message, usage: { input_tokens: 0, output_tokens: 0 } } };
}

/** A stand-in that no longer leads back to its messages; any other entry as it is. */
export function settled<T extends Entry>(entry: T): T | SnipMarker | CollapsedSpan {
  if (isSnipMarker(entry)) return settledMarker(entry);
  return isCollapsedSpan(entry) ? settledSpan(entry) : entry;
}

/** It stands in its place here, and the thinking after it has gone: a reader has nothing more to leave out. */
function settledMarker(marker: SnipMarker): SnipMarker {
  const { bindsThinking: _, ...snipped } = marker.snipped;
  return { ...marker, snipped: { ...snipped, isSettled: true } };
}

/** The same; and its messages are lines before the boundary now, where no reader looks for them. */
function settledSpan(span: CollapsedSpan): CollapsedSpan {
  const { bindsThinking: _, ...collapsed } = span.collapsed;
  return { ...span, collapsed: { ...collapsed, isSettled: true } };
}

function withNewMessageId(line: Linked, messageIds: Map<string, string>, ports: CompactionPorts): Linked {
  if (line.type !== "assistant" || line.message?.id === undefined) return line;
  const id = messageIds.get(line.message.id) ?? `msg_${ports.newUuid().replaceAll("-", "")}`;
  messageIds.set(line.message.id, id);
  return { ...line, message: { ...line.message, id } };
}

const isLinked = (entry: Entry): entry is Linked => entry.uuid !== undefined;
