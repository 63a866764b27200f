import type {
  BoundaryKnowledge,
  CompactBoundaryEntry,
  CompactMetadata,
  Entry,
  SummaryEntry,
  UserEntry,
} from "../conversation/entry.ts";
import { isCompactBoundary } from "../conversation/entry.ts";
import type { ContentBlock } from "../conversation/message.ts";
import { indexPairs, type PairIndex } from "../conversation/pairs.ts";
import { newestLineUuid } from "../conversation/queued.ts";
import { type CompactionPorts, newLink } from "./host-fields.ts";

export interface BoundaryInput {
  readonly trigger: "manual" | "auto";
  readonly preTokens: number;
  readonly postTokens: number;
  readonly knowledge: BoundaryKnowledge;
  /** The whole conversation before the compaction. */
  readonly entries: readonly Entry[];
  /** Of its calls and results, where somebody has it. */
  readonly pairs?: PairIndex | undefined;
  readonly messagesSummarised: number;
}

/** The mark in the transcript: a new root, so that a reader who follows parents stops here. */
export function createBoundary(input: BoundaryInput, ports: CompactionPorts): CompactBoundaryEntry {
  const tools = discoveredTools(input);
  const compactMetadata: CompactMetadata = {
    trigger: input.trigger,
    preTokens: input.preTokens,
    postTokens: input.postTokens,
    longhaul: input.knowledge,
    messagesSummarized: input.messagesSummarised,
    ...(tools.length > 0 ? { preCompactDiscoveredTools: tools } : {}),
  };
  return {
    ...newLink(input.entries, null, ports),
    logicalParentUuid: newestLineUuid(input.entries) ?? null,
    type: "system",
    subtype: "compact_boundary",
    content: "Conversation compacted",
    isMeta: false,
    level: "info",
    compactMetadata,
  };
}

/** A text of ours, or the block that the provider signed, with the model that wrote it. */
export type SummaryContent =
  | { readonly text: string }
  | { readonly block: ContentBlock; readonly model: string | undefined };

/** Always the boundary's child. Shown in the transcript only, yet sent to the model. */
export function createSummaryEntry(
  content: SummaryContent,
  boundary: CompactBoundaryEntry,
  entries: readonly Entry[],
  ports: CompactionPorts,
): SummaryEntry {
  const link = newLink(entries, boundary.uuid, ports);
  if ("text" in content) {
    return {
      ...link,
      type: "user",
      message: { role: "user", content: content.text },
      isVisibleInTranscriptOnly: true,
      isCompactSummary: true,
    };
  }
  const { block, model } = content;
  return {
    ...link,
    type: "assistant",
    message: { role: "assistant", content: [block], ...(model === undefined ? {} : { model }) },
    isCompactSummary: true,
  };
}

/** Words to the agent that no person wrote. */
export function createMetaEntry(
  text: string,
  parentUuid: string,
  entries: readonly Entry[],
  ports: CompactionPorts,
): UserEntry {
  const message = { role: "user" as const, content: text };
  return { ...newLink(entries, parentUuid, ports), type: "user", message, isMeta: true };
}

/**
 * Records on the boundary which messages were kept: they stay where they are in the file, with their old parents.
 * The anchor is the line that the first of them follows.
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

/** Names of all tools used so far, those before earlier boundaries included. */
function discoveredTools({ entries, pairs: index = indexPairs(entries) }: BoundaryInput): readonly string[] {
  const names = new Set<string>();
  for (const entry of entries) {
    if (!isCompactBoundary(entry)) continue;
    for (const name of entry.compactMetadata?.preCompactDiscoveredTools ?? []) names.add(name);
  }
  for (const pair of index.pairs.values()) if (pair.name !== "") names.add(pair.name);
  return [...names].sort();
}
