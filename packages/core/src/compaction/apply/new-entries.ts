import {
  type CompactBoundaryEntry,
  type CompactMetadata,
  type Entry,
  type EntryLink,
  isCompactBoundary,
  type SummaryEntry,
  type UserEntry,
} from "../../messages/entry.ts";
import { copyFields, isFromQueue, newestLineUuid, timeOf } from "../../messages/lines.ts";
import type { ContentBlock } from "../../messages/message.ts";
import { indexPairs, type PairIndex } from "../../messages/pairs.ts";
import {
  type CollapsedSpan,
  isCollapsedSpan,
  isSnipMarker,
  type SnipMarker,
} from "../../messages/stand-ins.ts";
import { isSentAttachment } from "../../request/flatten/attachment-content.ts";

/** Fields that an agent writes on every line of a session, whatever the line contains. */
const HOST_FIELDS = [
  "isSidechain",
  "userType",
  "entrypoint",
  "cwd",
  "sessionId",
  "version",
  "gitBranch",
  "slug",
  "agentId",
] as const;

/** Clock and source of ids, passed in by the caller. */
export interface CompactionPorts {
  readonly now: () => Date;
  readonly newUuid: () => string;
}

/**
 * Creates the id, time and parent of a new entry after `parentUuid`. Copies the session fields from the
 * newest lines.
 */
export function newLink(
  entries: readonly Entry[],
  parentUuid: string | null,
  ports: CompactionPorts,
): EntryLink {
  const fields: Record<string, unknown> = {};
  const newest = entries.findLast((entry) => entry.uuid !== undefined);
  for (const field of HOST_FIELDS) {
    const value = (newest as Record<string, unknown> | undefined)?.[field];
    if (value !== undefined) fields[field] = value;
  }
  return { parentUuid, ...fields, uuid: ports.newUuid(), timestamp: ports.now().toISOString() };
}

export const lastUuid = (entries: readonly Entry[]): string | undefined =>
  entries.findLast((entry) => entry.uuid !== undefined)?.uuid;

/**
 * Creates the boundary. It is a new root in the transcript, so a reader who follows parents stops here.
 * `entries` is the whole conversation before the boundary. `pairs` is the index of its calls and results, if
 * the caller has such an index.
 */
export function createBoundary(
  metadata: Omit<CompactMetadata, "preCompactDiscoveredTools">,
  entries: readonly Entry[],
  ports: CompactionPorts,
  pairs?: PairIndex,
): CompactBoundaryEntry {
  const tools = discoveredTools(entries, pairs);
  const compactMetadata: CompactMetadata = {
    ...metadata,
    ...(tools.length > 0 ? { preCompactDiscoveredTools: tools } : {}),
  };
  return {
    ...newLink(entries, null, ports),
    logicalParentUuid: newestLineUuid(entries) ?? null,
    type: "system",
    subtype: "compact_boundary",
    content: "Conversation compacted",
    isMeta: false,
    level: "info",
    compactMetadata,
  };
}

/** Names of all tools used so far, including those before earlier boundaries. */
function discoveredTools(entries: readonly Entry[], index = indexPairs(entries)): readonly string[] {
  const names = new Set<string>();
  for (const entry of entries) {
    if (!isCompactBoundary(entry)) continue;
    for (const name of entry.compactMetadata?.preCompactDiscoveredTools ?? []) names.add(name);
  }
  for (const pair of index.pairs.values()) if (pair.name !== "") names.add(pair.name);
  return [...names].sort();
}

/**
 * Records on the boundary which messages were kept. The kept messages stay in the file with their old
 * parents. The anchor is the line before the first kept message.
 */
export function withPreservedMessages(
  boundary: CompactBoundaryEntry,
  anchorUuid: string,
  kept: readonly Entry[],
): CompactBoundaryEntry {
  const uuids = kept.flatMap(({ uuid }) => uuid ?? []);
  const [headUuid, tailUuid] = [uuids[0], uuids.at(-1)];
  if (headUuid === undefined || tailUuid === undefined) return boundary;
  const preservedSegment = { headUuid, anchorUuid, tailUuid };
  const preservedMessages = { anchorUuid, uuids, allUuids: uuids };
  const compactMetadata = { ...boundary.compactMetadata, preservedSegment, preservedMessages };
  return { ...boundary, compactMetadata };
}

/** Text and block of the summary in the new conversation. */
export interface SummaryTexts {
  readonly text: string;
  /**
   * Block that the provider signed, with the model that wrote it. With a block, `text` is our text next to
   * the block.
   */
  readonly block?: { readonly content: ContentBlock; readonly model: string | undefined } | undefined;
}

/**
 * Creates the summary entry, always a child of the boundary. Users see it only in the transcript, but the
 * model receives it.
 */
export function createSummaryEntry(
  { text, block }: SummaryTexts,
  boundary: CompactBoundaryEntry,
  entries: readonly Entry[],
  ports: CompactionPorts,
): SummaryEntry {
  const link = newLink(entries, boundary.uuid, ports);
  if (block === undefined) {
    const message = { role: "user" as const, content: text };
    return { ...link, type: "user", message, isVisibleInTranscriptOnly: true, isCompactSummary: true };
  }
  const { content, model } = block;
  const message = {
    role: "assistant" as const,
    content: [content],
    ...(model === undefined ? {} : { model }),
  };
  return { ...link, type: "assistant", message, isCompactSummary: true };
}

/** Creates a message to the agent that no user wrote. */
export function createMetaEntry(
  text: string,
  parentUuid: string,
  entries: readonly Entry[],
  ports: CompactionPorts,
): UserEntry {
  const message = { role: "user" as const, content: text };
  return { ...newLink(entries, parentUuid, ports), type: "user", message, isMeta: true };
}

export type Linked = Extract<Entry, EntryLink>;

/**
 * Copies kept messages as new entries.
 *
 * The copies get new ids. With the old ids, a reader that collects the lines of a response by id would also
 * find the old lines. The copies have no usage, because the figures of the long conversation no longer apply.
 *
 * The copies keep their times, but the last message and all entries after it get the current time. Some
 * readers continue from the line with the newest time. With the old times, they would find the old end of the
 * conversation.
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

/** Sets the time of a copy. Times come from a file and can have any value. */
function withTime(line: Linked, isLast: boolean, ports: CompactionPorts): Linked {
  const { originalTimestamp: _, ...rest } = line;
  const original = timeOf(line);
  const now = ports.now().toISOString();
  if (original === undefined || Number.isNaN(Date.parse(original))) return { ...rest, timestamp: now };
  return isLast ? { ...rest, timestamp: now, originalTimestamp: original } : { ...rest, timestamp: original };
}

function contentToKeep(entry: Linked, uuids: ReadonlyMap<string, string>): Linked | undefined {
  if (entry.type === "progress" || entry.type === "system") return undefined;
  // A host that reads no attachments would turn an attachment without text into an empty message.
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

/**
 * Marks a snip marker or a collapsed span as settled, so that it no longer leads back to its messages.
 * Returns any other entry unchanged.
 */
export function settled<T extends Entry>(entry: T): T | SnipMarker | CollapsedSpan {
  // The thinking after the marker is already gone, so a reader has nothing to drop.
  if (isSnipMarker(entry)) {
    const { bindsThinking: _, ...snipped } = entry.snipped;
    return { ...entry, snipped: { ...snipped, isSettled: true } };
  }
  if (!isCollapsedSpan(entry)) return entry;
  // The thinking after the span is gone too. The messages of the span are now before the boundary, where no
  // reader looks.
  const { bindsThinking: _, ...collapsed } = entry.collapsed;
  return { ...entry, collapsed: { ...collapsed, isSettled: true } };
}

function withNewMessageId(line: Linked, messageIds: Map<string, string>, ports: CompactionPorts): Linked {
  if (line.type !== "assistant" || line.message?.id === undefined) return line;
  const id = messageIds.get(line.message.id) ?? `msg_${ports.newUuid().replaceAll("-", "")}`;
  messageIds.set(line.message.id, id);
  return { ...line, message: { ...line.message, id } };
}

const isLinked = (entry: Entry): entry is Linked => entry.uuid !== undefined;
