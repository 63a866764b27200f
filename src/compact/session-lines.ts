import type { ContentBlock } from "../conversation/block.ts";
import { isThinking } from "../conversation/block.ts";
import type { AttachmentEntry, Entry, EntryLink, UserEntry } from "../conversation/entry.ts";
import { attachmentContent } from "../conversation/flatten/attachment-content.ts";
import type { Compaction } from "./compact.ts";
import type { HostConventions } from "./host-conventions.ts";
import type { CompactionPorts } from "./host-fields.ts";

/**
 * How a compaction is written to a session file, so that both we and the agent that wrote the session
 * read it back as {@link rebuild} gives it.
 */
export interface LineOptions {
  /** The model ties thinking to the history before it, which is about to change. */
  readonly bindsThinking: boolean;
}

type Linked = Extract<Entry, EntryLink>;

/** Lines to append to the session itself. Nothing that stands in it is touched. */
export function linesInPlace(
  compaction: Compaction,
  conventions: HostConventions,
  options: LineOptions,
  ports: CompactionPorts,
): readonly Entry[] {
  const segment = compaction.boundary.compactMetadata.preservedSegment;
  if (!conventions.preservedSegments || segment === undefined) {
    return chained(compaction, rewritten(compaction.kept, options, ports), conventions, {});
  }
  const attachments = compaction.attachments.map((entry) => asHostReads(entry, conventions));
  // A reader starts at the newest line: it must hang on the tail, or the kept messages are passed by.
  const after = attachments.length > 0 ? attachments : [marker(compaction, segment.tailUuid, ports)];
  return [compaction.boundary, compaction.summary, ...after];
}

/** Lines of a new session that begins with the compaction, as a fork of a compacted session does. */
export function linesOfNewSession(
  compaction: Compaction,
  sessionId: string,
  conventions: HostConventions,
  options: LineOptions,
  ports: CompactionPorts,
): readonly Entry[] {
  return chained(compaction, rewritten(compaction.kept, options, ports), conventions, { sessionId });
}

/** All of it one after the other: no segment is needed where the kept messages follow as lines. */
function chained(
  compaction: Compaction,
  kept: readonly Linked[],
  conventions: HostConventions,
  fields: Readonly<Record<string, unknown>>,
): readonly Entry[] {
  const attachments = compaction.attachments.map((entry) => asHostReads(entry, conventions));
  const { preservedSegment: _, ...compactMetadata } = compaction.boundary.compactMetadata;
  const boundary = { ...compaction.boundary, compactMetadata };
  let parentUuid: string | null = null;
  return [boundary, compaction.summary, ...kept, ...attachments].map((entry) => {
    const line = { ...entry, ...fields, parentUuid } as Entry;
    parentUuid = entry.uuid;
    return line;
  });
}

/**
 * Kept messages as new lines. They get new ids, or a reader that gathers a response by its id would
 * find the old lines too; a new time, or a reader that goes on from the newest line might take the old
 * end of the conversation; and no usage, since the figures of the long conversation no longer hold.
 */
function rewritten(kept: readonly Entry[], options: LineOptions, ports: CompactionPorts): readonly Linked[] {
  const messageIds = new Map<string, string>();
  const uuids = new Map<string, string>();
  const lines: Linked[] = [];
  for (const entry of kept.filter(isLinked)) {
    const line = contentOfLine(entry, uuids, options);
    if (line === undefined) continue;
    const uuid = ports.newUuid();
    uuids.set(entry.uuid, uuid);
    lines.push({ ...withNewMessageId(line, messageIds, ports), uuid, timestamp: ports.now().toISOString() });
  }
  return lines;
}

function contentOfLine(
  entry: Linked,
  uuids: ReadonlyMap<string, string>,
  options: LineOptions,
): Linked | undefined {
  if (entry.type === "progress" || entry.type === "system") return undefined;
  if (entry.type === "user" && entry.sourceToolAssistantUUID !== undefined) {
    const source = uuids.get(entry.sourceToolAssistantUUID) ?? entry.sourceToolAssistantUUID;
    return { ...entry, sourceToolAssistantUUID: source };
  }
  if (entry.type !== "assistant") return entry;
  const content = options.bindsThinking ? withoutThinking(entry.message.content) : entry.message.content;
  if (content.length === 0) return undefined;
  return { ...entry, message: { ...entry.message, content, usage: { input_tokens: 0, output_tokens: 0 } } };
}

function withNewMessageId(line: Linked, messageIds: Map<string, string>, ports: CompactionPorts): Linked {
  if (line.type !== "assistant" || line.message.id === undefined) return line;
  const id = messageIds.get(line.message.id) ?? `msg_${ports.newUuid().replaceAll("-", "")}`;
  messageIds.set(line.message.id, id);
  return { ...line, message: { ...line.message, id } };
}

function withoutThinking(content: string | readonly ContentBlock[]): string | readonly ContentBlock[] {
  return typeof content === "string" ? content : content.filter((block) => !isThinking(block));
}

function asHostReads(entry: AttachmentEntry, conventions: HostConventions): AttachmentEntry | UserEntry {
  if (conventions.attachments) return entry;
  const { attachment, ...link } = entry;
  const content = attachmentContent(attachment);
  return { ...link, type: "user", isMeta: true, message: { role: "user", content } };
}

/** A line for people, never sent to the model. */
function marker(compaction: Compaction, parentUuid: string, ports: CompactionPorts): Entry {
  const { compactMetadata: _, logicalParentUuid: __, ...link } = compaction.boundary;
  return {
    ...link,
    uuid: ports.newUuid(),
    parentUuid,
    timestamp: ports.now().toISOString(),
    subtype: "informational",
    content: "Compacted by longhaul",
  } as unknown as Entry;
}

const isLinked = (entry: Entry): entry is Linked => entry.uuid !== undefined;
