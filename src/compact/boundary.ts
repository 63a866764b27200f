import type {
  BoundaryKnowledge,
  CompactBoundaryEntry,
  CompactMetadata,
  Entry,
  UserEntry,
} from "../conversation/entry.ts";
import { isCompactBoundary } from "../conversation/entry.ts";
import { indexPairs } from "../conversation/pairs.ts";
import { type CompactionPorts, newLink } from "./host-fields.ts";

export interface BoundaryInput {
  readonly trigger: "manual" | "auto";
  readonly preTokens: number;
  readonly postTokens: number;
  readonly knowledge: BoundaryKnowledge;
  /** The whole conversation before the compaction. */
  readonly entries: readonly Entry[];
  readonly summarised: readonly Entry[];
}

/** The mark in the transcript: a new root, so that a reader who follows parents stops here. */
export function createBoundary(input: BoundaryInput, ports: CompactionPorts): CompactBoundaryEntry {
  const tools = discoveredTools(input.entries);
  const compactMetadata: CompactMetadata = {
    trigger: input.trigger,
    preTokens: input.preTokens,
    postTokens: input.postTokens,
    longhaul: input.knowledge,
    messagesSummarized: input.summarised.filter(
      (entry) => entry.type === "user" || entry.type === "assistant",
    ).length,
    ...(tools.length > 0 ? { preCompactDiscoveredTools: tools } : {}),
  };
  return {
    ...newLink(input.entries, null, ports),
    logicalParentUuid: input.entries.findLast((entry) => entry.uuid !== undefined)?.uuid ?? null,
    type: "system",
    subtype: "compact_boundary",
    content: "Conversation compacted",
    isMeta: false,
    level: "info",
    compactMetadata,
  };
}

/** Always the boundary's child. Shown in the transcript only, yet sent to the model. */
export function createSummaryEntry(
  text: string,
  boundary: CompactBoundaryEntry,
  entries: readonly Entry[],
  ports: CompactionPorts,
): UserEntry {
  return {
    ...newLink(entries, boundary.uuid, ports),
    type: "user",
    message: { role: "user", content: text },
    isVisibleInTranscriptOnly: true,
    isCompactSummary: true,
  };
}

/** Tells readers of the transcript where the kept messages stand, which keep their old place and parents there. */
export function withPreservedSegment(
  boundary: CompactBoundaryEntry,
  summary: UserEntry,
  kept: readonly Entry[],
): CompactBoundaryEntry {
  const headUuid = kept.find((entry) => entry.uuid !== undefined)?.uuid;
  const tailUuid = kept.findLast((entry) => entry.uuid !== undefined)?.uuid;
  if (headUuid === undefined || tailUuid === undefined) return boundary;
  const preservedSegment = { headUuid, anchorUuid: summary.uuid, tailUuid };
  return { ...boundary, compactMetadata: { ...boundary.compactMetadata, preservedSegment } };
}

/** Names of all tools used so far, those before earlier boundaries included. */
function discoveredTools(entries: readonly Entry[]): readonly string[] {
  const names = new Set<string>();
  for (const entry of entries) {
    if (!isCompactBoundary(entry)) continue;
    for (const name of entry.compactMetadata?.preCompactDiscoveredTools ?? []) names.add(name);
  }
  for (const pair of indexPairs(entries).pairs.values()) if (pair.name !== "") names.add(pair.name);
  return [...names].sort();
}
