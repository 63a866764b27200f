import type { ToolResultBlock } from "../conversation/block.ts";
import type { Entry, UserEntry } from "../conversation/entry.ts";
import { contentText } from "../conversation/fields.ts";
import { indexPairs, type PairIndex, type ToolPair } from "../conversation/pairs.ts";
import { entryBlocks, isEntry, isRecord, type JsonRecord, rawContent } from "../conversation/untrusted.ts";

/** What the state of a session can be read from: answered calls, attachments, and what the agent was told. */
export type Happening =
  | { readonly what: "call"; readonly call: AnsweredCall }
  | { readonly what: "attachment"; readonly type: string; readonly attachment: JsonRecord }
  | { readonly what: "told"; readonly entry: UserEntry };

export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly isError: boolean;
  readonly result: ToolResultBlock;
  /** The agent's own copy of the outcome, if it keeps one. */
  readonly outcome: unknown;
}

/** In the order in which the agent came to know of them. `index`: of these entries, where it has been made already. */
export function happeningsIn(
  entries: readonly Entry[],
  index: PairIndex = indexPairs(entries),
): readonly Happening[] {
  const happenings: Happening[] = [];
  for (const entry of entries) {
    if (!isEntry(entry)) continue;
    if (entry.type === "attachment") {
      const { attachment } = entry;
      if (isRecord(attachment) && typeof attachment.type === "string")
        happenings.push({ what: "attachment", type: attachment.type, attachment });
    } else if (entry.type === "user") {
      happenings.push({ what: "told", entry });
      for (const result of entryBlocks(entry)) {
        if (result.type !== "tool_result") continue;
        const call = answeredCall(result, entry, index.pairs.get(result.tool_use_id));
        if (call !== undefined) happenings.push({ what: "call", call });
      }
    }
  }
  return happenings;
}

/** A resume may have written the answer again: the call happened once. */
function answeredCall(
  result: ToolResultBlock,
  { toolUseResult: outcome }: UserEntry,
  pair: ToolPair | undefined,
): AnsweredCall | undefined {
  if (pair === undefined || pair.results[0]?.block !== result) return undefined;
  const { id, name, use } = pair;
  return { id, name, input: use.block.input, isError: result.is_error === true, result, outcome };
}

export const textOf = (entry: UserEntry): string => contentText(rawContent(entry));
