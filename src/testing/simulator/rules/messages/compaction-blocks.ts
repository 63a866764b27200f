import { refuse } from "../../wording/refuse.ts";
import { type PlacedBlock, pathOf, type SentMessage } from "./conversation.ts";

/**
 * A summary that was asked for is signed, and there is one, first in the conversation, in any role. Those
 * that the provider made at a threshold stay where the assistant's replies had them. One without content
 * is a failed attempt and counts for nothing. Whether a signature is right is another part's business.
 */
export function checkCompactionBlocks(messages: readonly SentMessage[]): void {
  let isFirst = true;
  let hasSigned = false;
  let seen: PlacedBlock | undefined;
  for (const { blocks, role } of messages) {
    for (const placed of blocks) {
      if (placed.type === "compaction" && typeof placed.block.content === "string") {
        const isSigned = typeof placed.block.signature === "string";
        if ((isSigned || role === "user") && !isFirst)
          refuse("compactionMisplaced", { path: pathOf(placed) });
        hasSigned ||= isSigned;
        if (seen !== undefined && hasSigned) refuse("compactionAmbiguous", { path: pathOf(placed) });
        seen = placed;
      }
      isFirst = false;
    }
  }
}
