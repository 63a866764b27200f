import type { AttachmentEntry, Entry, UserEntry } from "../../messages/entry.ts";
import { sentContent } from "../../request/flatten/attachment-content.ts";
import { type CompactedEntries, rebuild } from "./assemble.ts";
import { type CompactionPorts, renewEntries } from "./new-entries.ts";

/**
 * Lines to append to the session itself, so that both we and the agent that wrote the session read it back as
 * {@link rebuild} gives it. Nothing that stands in it is touched.
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
  // A reader starts at the newest line: it must hang on the tail, or the kept messages are passed by.
  return [boundary, summary, marker(compacted, segment.tailUuid, ports)];
}

/** Lines of a new session that begins with the compaction, as a fork of a compacted session does. */
export function linesOfNewSession(
  compacted: CompactedEntries,
  sessionId: string,
  conventions: HostConventions,
  ports: CompactionPorts,
): readonly Entry[] {
  return chained(withRenewedKept(compacted, ports), conventions, { sessionId });
}

/** All of it one after the other: no segment is needed where the kept messages follow as lines. */
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
 * From the last message on, no line is older than the one before it. Claude Code continues from the line with the
 * newest time: copies of kept messages are written last, and restored files after them would be passed over.
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
  // Whatever they follow: all lines are linked anew.
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

/** A line for people, never sent to the model. */
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

/** Features that the agent that wrote a session understands when it reads the session again. */
export interface HostConventions {
  /** Re-links kept messages by the boundary's `preservedSegment`; otherwise they are written again. */
  readonly preservedSegments: boolean;
  /** Reads `attachment` lines; otherwise what is put back is written as an injected user message. */
  readonly attachments: boolean;
}

/** The first Claude Code versions in whose files each thing was seen. */
const FIRST_WITH_SEGMENTS = [2, 1, 217] as const;
const FIRST_WITH_ATTACHMENTS = [2, 1, 90] as const;

/** Of a session that we write ourselves. */
export const CURRENT_CONVENTIONS: HostConventions = Object.freeze({
  preservedSegments: true,
  attachments: true,
});

/** A session without a version is our own. */
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
    // A part that is no number compares as not greater.
    if (part !== wanted) return part > wanted;
  }
  return true;
}
