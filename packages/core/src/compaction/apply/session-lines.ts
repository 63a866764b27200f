import type { AttachmentEntry, Entry, UserEntry } from "../../messages/entry.ts";
import { sentContent } from "../../request/flatten/attachment-content.ts";
import { type CompactedEntries, rebuild } from "./assemble.ts";
import { type CompactionPorts, renewEntries } from "./new-entries.ts";

/**
 * Returns the lines to append to the session. After that, both longhaul and the agent that wrote the session
 * read the conversation that {@link rebuild} returns. Existing lines stay unchanged.
 */
export function linesInPlace(
  compacted: CompactedEntries,
  conventions: HostConventions,
  ports: CompactionPorts,
): readonly Entry[] {
  const segment = compacted.boundary.compactMetadata.preservedSegment;
  if (!conventions.preservedSegments || segment === undefined) {
    const hasNewKept = compacted.isKeptRenewed || compacted.kept.length === 0;
    return chained(hasNewKept ? compacted : withRenewedKept(compacted, ports), conventions, {});
  }
  const { boundary, summary, keptPlace } = compacted;
  const after = afterCore(compacted).map((entry) => asHostReads(entry, conventions));
  if (after.length > 0 || keptPlace === "before") return [boundary, summary, ...after];
  // A reader starts at the newest line. If that line were not linked to the last kept message, the reader
  // would miss the kept messages.
  return [boundary, summary, marker(compacted, segment.tailUuid, ports)];
}

/** Returns the lines of a new session that begins with the compaction, like a fork of a compacted session. */
export function linesOfNewSession(
  compacted: CompactedEntries,
  sessionId: string,
  conventions: HostConventions,
  ports: CompactionPorts,
): readonly Entry[] {
  return chained(withRenewedKept(compacted, ports), conventions, { sessionId });
}

/**
 * Links each entry to the one before it. Kept messages are written as lines, so the boundary records no
 * preserved segment.
 */
function chained(
  compacted: CompactedEntries,
  conventions: HostConventions,
  fields: Readonly<Record<string, unknown>>,
): readonly Entry[] {
  const {
    preservedSegment: _,
    preservedMessages: __,
    ...compactMetadata
  } = compacted.boundary.compactMetadata;
  const whole = { ...compacted, boundary: { ...compacted.boundary, compactMetadata } };
  let parentUuid: string | null = null;
  return withRisingTimes(rebuild(whole)).map((entry) => {
    const line = { ...asHostReads(entry, conventions), ...fields, parentUuid } as Entry;
    parentUuid = entry.uuid ?? parentUuid;
    return line;
  });
}

/**
 * Changes times so that no line from the last message on is older than the line before it. Claude Code
 * continues from the line with the newest time. Copies of kept messages are created last, so they are newer
 * than the restored files after them. Without the change, Claude Code would skip these files.
 */
function withRisingTimes(entries: readonly Entry[]): readonly Entry[] {
  const last = entries.findLastIndex(({ type }) => type === "user" || type === "assistant");
  let newest = "";
  return entries.map((entry, at) => {
    const { timestamp } = entry;
    if (at < last || typeof timestamp !== "string") return entry;
    newest = timestamp > newest ? timestamp : newest;
    return timestamp === newest ? entry : { ...entry, timestamp: newest };
  });
}

function withRenewedKept(compacted: CompactedEntries, ports: CompactionPorts): CompactedEntries {
  // The parent does not matter here, because all lines are linked again.
  return { ...compacted, kept: renewEntries(compacted.kept, compacted.summary.uuid, ports) };
}

function afterCore({ pending, afterword, attachments, hookResults }: CompactedEntries): readonly Entry[] {
  return [...pending, ...(afterword === undefined ? [] : [afterword]), ...attachments, ...hookResults];
}

function asHostReads(entry: Entry, conventions: HostConventions): Entry {
  return entry.type === "attachment" && !conventions.attachments ? asUserEntry(entry) : entry;
}

function asUserEntry(entry: AttachmentEntry): UserEntry {
  const { attachment: _, rendered: __, ...link } = entry;
  return { ...link, type: "user", isMeta: true, message: { role: "user", content: sentContent(entry) } };
}

/** Creates a line for users that is never sent to the model. */
function marker({ boundary }: CompactedEntries, parentUuid: string, ports: CompactionPorts): Entry {
  const { compactMetadata: _, logicalParentUuid: __, ...link } = boundary;
  return {
    ...link,
    uuid: ports.newUuid(),
    parentUuid,
    timestamp: ports.now().toISOString(),
    subtype: "informational",
    content: "Compacted by longhaul",
  } as unknown as Entry;
}

/** Session file features that the agent which wrote a session can read. */
export interface HostConventions {
  /**
   * True if the agent finds kept messages by the boundary's `preservedSegment`. If false, the messages are
   * written again.
   */
  readonly preservedSegments: boolean;
  /**
   * True if the agent reads `attachment` lines. If false, restored content is written as an injected user
   * message.
   */
  readonly attachments: boolean;
}

/** First Claude Code versions whose session files use each feature. */
const FIRST_WITH_SEGMENTS = [2, 1, 217] as const;
const FIRST_WITH_ATTACHMENTS = [2, 1, 90] as const;

/** Conventions of sessions that longhaul writes itself. */
export const CURRENT_CONVENTIONS: HostConventions = Object.freeze({
  preservedSegments: true,
  attachments: true,
});

/** Returns the conventions of an agent version. A session without a version is longhaul's own. */
export function conventionsOf(version: string | undefined): HostConventions {
  if (version === undefined) return CURRENT_CONVENTIONS;
  return {
    preservedSegments: isAtLeast(version, FIRST_WITH_SEGMENTS),
    attachments: isAtLeast(version, FIRST_WITH_ATTACHMENTS),
  };
}

function isAtLeast(version: string, least: readonly [number, number, number]): boolean {
  const parts = version.split(".").map((part) => Number.parseInt(part, 10));
  for (const [index, wanted] of least.entries()) {
    const part = parts[index] ?? 0;
    // A version part that is not a number never counts as greater.
    if (part !== wanted) return part > wanted;
  }
  return true;
}
