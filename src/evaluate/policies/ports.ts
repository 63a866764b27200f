import type { CompactionPorts } from "../../compaction/apply/new-entries.ts";
import type { Entry } from "../../conversation/entry.ts";

/** Ids in order and the time of the newest entry: the same input gives the same result. */
export function steadyPorts(name: string): (entries: readonly Entry[]) => CompactionPorts {
  let count = 0;
  return (entries) => {
    const newest = entries.findLast(({ timestamp }) => !Number.isNaN(Date.parse(timestamp ?? "")));
    const now = new Date(newest?.timestamp ?? 0);
    return { now: () => now, newUuid: () => `${name}-${++count}` };
  };
}
