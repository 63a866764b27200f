import type { DraftMessage } from "../check/draft.ts";

/** An id as a tool use or a result gives it; all that are no text count as the same. */
export interface IdAt {
  readonly id: string;
  readonly itemIndex: number;
}

export function toolIdsIn(messages: readonly DraftMessage[]): IdAt[] {
  const ids: IdAt[] = [];
  for (const { parts } of messages) {
    for (const { block, origin } of parts) {
      if (block.type === "tool_use") ids.push({ id: asId(block.id), itemIndex: origin.message });
      else if (block.type === "tool_result")
        ids.push({ id: asId(block.tool_use_id), itemIndex: origin.message });
    }
  }
  return ids;
}

const asId = (id: unknown): string => (typeof id === "string" ? id : "");
