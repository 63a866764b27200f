import type { Entry } from "../conversation/entry.ts";
import type { SnipMarker, SnipRecord } from "../conversation/snipped.ts";
import { isEntry } from "../conversation/untrusted.ts";
import { type CompactionPorts, newLink } from "./host-fields.ts";

/**
 * Its parent is the newest entry, not the one before it: on disk it is one more line at the end, and a reader
 * that went on from it must not take the conversation for one that was gone back in.
 */
export function createSnipMarker(
  record: SnipRecord,
  transcriptPath: string | undefined,
  entries: readonly Entry[],
  ports: CompactionPorts,
): SnipMarker {
  const newest = entries.findLast((entry) => isEntry(entry) && entry.uuid !== undefined);
  const content = markerText(record.messages, transcriptPath);
  return {
    ...newLink(newest === undefined ? [] : [newest], newest?.uuid ?? null, ports),
    type: "user",
    message: { role: "user", content },
    isMeta: true,
    snipped: record,
  };
}

function markerText(messages: number, transcriptPath: string | undefined): string {
  const what = messages === 1 ? "1 message was" : `${messages} messages were`;
  const where =
    transcriptPath === undefined ? "" : ` What they said can be read in the transcript: ${transcriptPath}`;
  return `[${what} removed here to make room.${where}]`;
}
