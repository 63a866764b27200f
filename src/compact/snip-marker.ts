import { type CompactionPorts, newLink } from "../compaction/apply/new-entries.ts";
import { type Entry, isEntry } from "../conversation/entry.ts";
import { isFromQueue } from "../conversation/queued.ts";
import { isSnipMarker, type SnipMarker, type SnipRecord } from "../conversation/snipped.ts";

/**
 * Its parent is the newest line, not the entry before it: on disk it is one more line at the end, and a reader
 * that went on from it must not take the conversation for one that was gone back in.
 */
export function createSnipMarker(
  record: SnipRecord,
  transcriptPath: string | undefined,
  newest: Entry | undefined,
  ports: CompactionPorts,
): SnipMarker {
  const content = markerText(record.messages, transcriptPath);
  return {
    ...newLink(newest === undefined ? [] : [newest], newest?.uuid ?? null, ports),
    type: "user",
    message: { role: "user", content },
    isMeta: true,
    snipped: record,
  };
}

/** The newest line of the conversation: a marker stands where messages were, though it was written after them all. */
export function newestLine(entries: readonly Entry[]): Entry | undefined {
  const after = new Map<string | null, Entry>();
  for (const entry of entries) if (isSnipMarker(entry)) after.set(entry.parentUuid, entry);
  let newest = entries.findLast((entry) => isEntry(entry) && entry.uuid !== undefined && !isFromQueue(entry));
  for (let steps = after.size; steps > 0; steps--) newest = after.get(newest?.uuid ?? "") ?? newest;
  return newest;
}

function markerText(messages: number, transcriptPath: string | undefined): string {
  const what = messages === 1 ? "1 message was" : `${messages} messages were`;
  const where =
    transcriptPath === undefined ? "" : ` What they said can be read in the transcript: ${transcriptPath}`;
  return `[${what} removed here to make room.${where}]`;
}
