import type { ApiMessage } from "../../../conversation/message.ts";
import { type ContentBlock, contentBlocks, isThinking } from "../../../conversation/message.ts";
import type { PrefixWalk, SummarisedPrefix } from "./bound-prefix.ts";
import { asCompaction, hasSummary } from "./conversation.ts";
import type { ReadThinking, SignatureReader } from "./signature.ts";

/** A thinking block of a request, and where it stands in it. */
export interface SentThinking extends ReadThinking {
  readonly message: number;
  readonly index: number;
  readonly type: "thinking" | "redacted_thinking";
}

/** Reads what a signed compaction block says of the messages that it stands for. */
export type ReadSummary = (signature: string) => SummarisedPrefix | undefined;

export interface Place {
  readonly message: number;
  readonly index: number;
}

/** What stands before the last summary is ignored, thinking included. */
export function startOfChecked(messages: readonly ApiMessage[]): Place {
  for (let message = messages.length - 1; message >= 0; message--) {
    const content = messages[message]?.content;
    if (typeof content === "string") continue;
    const index = contentBlocks(content).findLastIndex(isSummary);
    if (index >= 0) return { message, index };
  }
  return { message: 0, index: 0 };
}

function isSummary(block: ContentBlock): boolean {
  const summary = asCompaction(block);
  return summary !== undefined && hasSummary(summary);
}

/** A summary begins the conversation anew. */
export function addBlock(
  walk: PrefixWalk,
  role: string,
  block: ContentBlock,
  readSummary: ReadSummary,
): void {
  const summary = asCompaction(block);
  if (summary === undefined || !hasSummary(summary)) walk.add(role, block);
  else if (typeof summary.signature !== "string") walk.restart(summary.content);
  else walk.restartSigned(summary.signature, readSummary(summary.signature));
}

export function readThinking(
  reader: SignatureReader,
  messages: readonly ApiMessage[],
  start: Place,
): readonly SentThinking[] {
  const found: SentThinking[] = [];
  for (let message = start.message; message < messages.length; message++) {
    const content = messages[message]?.content;
    if (messages[message]?.role !== "assistant" || typeof content === "string") continue;
    const blocks = contentBlocks(content);
    for (let index = message === start.message ? start.index : 0; index < blocks.length; index++) {
      const block = blocks[index];
      if (block === undefined || !isThinking(block)) continue;
      const { id, signature, isIntact } = reader.read(block);
      found.push({ message, index, type: block.type, id, signature, isIntact });
    }
  }
  return found;
}
