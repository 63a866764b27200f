import type { Entry, UserEntry } from "./entry.ts";
import { asList, field } from "./fields.ts";
import { isEntry } from "./untrusted.ts";

/** What stands where messages were removed: how many, and which, so that they can be found again. */
export interface SnipMarker extends UserEntry {
  readonly snipped: SnipRecord;
}

export interface SnipRecord {
  readonly messages: number;
  readonly uuids: readonly string[];
  /** The model ties thinking to the history before it: that of messages after the removed ones went with them. */
  readonly bindsThinking?: boolean;
}

export function isSnipMarker(entry: Entry): entry is SnipMarker {
  return (
    isEntry(entry) && entry.type === "user" && typeof field(field(entry, "snipped"), "messages") === "number"
  );
}

/** Uuids of what this entry stands for; none where it is no marker. */
export function snippedUuids(entry: Entry): readonly string[] {
  if (!isSnipMarker(entry)) return [];
  return asList(entry.snipped.uuids).filter((uuid) => typeof uuid === "string");
}

/**
 * A transcript as the conversation was: there the removed messages are still in their place and the marker is a
 * line further on. The marker comes where the first of them was.
 */
export function withSnipsApplied(entries: readonly Entry[]): readonly Entry[] {
  const markerOf = new Map<string, Entry>();
  for (const entry of entries) for (const uuid of snippedUuids(entry)) markerOf.set(uuid, entry);
  if (markerOf.size === 0) return entries;
  const isPlaced = new Set<Entry>();
  const applied: Entry[] = [];
  for (const entry of entries) {
    const marker = isEntry(entry) && entry.uuid !== undefined ? markerOf.get(entry.uuid) : undefined;
    const stands = marker ?? entry;
    if (isPlaced.has(stands)) continue;
    if (marker !== undefined || isSnipMarker(entry)) isPlaced.add(stands);
    applied.push(stands);
  }
  return applied;
}
