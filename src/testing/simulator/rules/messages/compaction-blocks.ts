import { BETAS } from "../../wording/betas.ts";
import { refuse } from "../../wording/refuse.ts";
import { asksForCompaction } from "../fields/readers.ts";
import type { Inspection } from "../shape/shape-check.ts";
import { type PlacedBlock, pathOf, type Role, type SentMessage } from "./conversation.ts";

interface Summary {
  readonly placed: PlacedBlock;
  readonly role: Role;
  readonly isFirst: boolean;
}

/**
 * A summary that was asked for is signed, and there is one, first in the conversation, in any role but the
 * system's. Those that the provider made at a threshold, which has its own beta, stay where the assistant's
 * replies had them. One without content is a failed attempt and counts for nothing. Whether a signature is
 * right is another part's business.
 */
export function checkCompactionBlocks(messages: readonly SentMessage[], inspection: Inspection): void {
  const summaries = findSummaries(messages);
  if (summaries.length === 0) return;
  const areAskedFor = !inspection.hasBeta(BETAS.thresholdCompaction);
  const [, second] = summaries;
  if (second !== undefined && (areAskedFor || summaries.some(isSigned))) {
    refuse("compactionAmbiguous", { path: pathOf(second.placed) });
  }
  for (const summary of summaries) {
    const isBound = areAskedFor || isSigned(summary) || summary.role === "user";
    if (summary.role === "system" || (isBound && !summary.isFirst)) {
      refuse("compactionMisplaced", { path: pathOf(summary.placed) });
    }
  }
}

function findSummaries(messages: readonly SentMessage[]): readonly Summary[] {
  const found: Summary[] = [];
  let isFirst = true;
  for (const { blocks, role } of messages) {
    for (const placed of blocks) {
      if (isSummary(placed)) found.push({ placed, role, isFirst });
      isFirst = false;
    }
  }
  return found;
}

function isSigned({ placed }: Summary): boolean {
  return typeof placed.block.signature === "string";
}

function isSummary({ type, block }: PlacedBlock): boolean {
  return type === "compaction" && typeof block.content === "string";
}

/** There is something to summarise when a message of either side holds more than a failed attempt at that. */
export function checkSomethingToSummarise(messages: readonly SentMessage[], inspection: Inspection): void {
  if (!asksForCompaction(inspection.request)) return;
  const isContent = (placed: PlacedBlock): boolean => placed.type !== "compaction" || isSummary(placed);
  if (!messages.some(({ role, blocks }) => role !== "system" && blocks.some(isContent))) {
    refuse("compactionNothing");
  }
}
