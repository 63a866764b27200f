import type { ToolResultBlock, ToolUseBlock } from "./block.ts";
import type { AssistantEntry, Entry, UserEntry } from "./entry.ts";
import { entryBlocks, isEntry } from "./untrusted.ts";

export interface ToolUseAt {
  readonly entry: AssistantEntry;
  readonly entryIndex: number;
  readonly block: ToolUseBlock;
}

export interface ToolResultAt {
  readonly entry: UserEntry;
  readonly entryIndex: number;
  readonly block: ToolResultBlock;
}

export interface ToolPair {
  readonly id: string;
  readonly name: string;
  readonly use: ToolUseAt;
  /** Normally one; none while the call is open, more when a resume wrote the answer again. */
  readonly results: readonly ToolResultAt[];
}

export interface PairIndex {
  readonly pairs: ReadonlyMap<string, ToolPair>;
  readonly unanswered: readonly ToolPair[];
  /** Results whose tool use is nowhere in these entries. */
  readonly orphanResults: readonly ToolResultAt[];
  readonly secondResults: readonly ToolResultAt[];
  /** Later uses under an id that was taken; the first one owns the pair. */
  readonly repeatedUses: readonly ToolUseAt[];
}

/**
 * Ids alone decide what belongs together: parallel calls lie interleaved in real files, and a result may
 * stand anywhere, even before its use.
 */
export function indexPairs(entries: readonly Entry[]): PairIndex {
  const { uses, results } = collectToolBlocks(entries);
  const pairs = new Map<string, ToolPair & { readonly results: ToolResultAt[] }>();
  const repeatedUses: ToolUseAt[] = [];
  for (const use of uses) {
    if (pairs.has(use.block.id)) repeatedUses.push(use);
    else pairs.set(use.block.id, { id: use.block.id, name: nameOf(use.block), use, results: [] });
  }
  const orphanResults: ToolResultAt[] = [];
  const secondResults: ToolResultAt[] = [];
  for (const result of results) {
    const pair = pairs.get(result.block.tool_use_id);
    if (pair === undefined) {
      orphanResults.push(result);
      continue;
    }
    if (pair.results.length > 0) secondResults.push(result);
    pair.results.push(result);
  }
  const unanswered = [...pairs.values()].filter((pair) => pair.results.length === 0);
  return { pairs, unanswered, orphanResults, secondResults, repeatedUses };
}

/** Not every file has a name on every call. */
function nameOf(block: ToolUseBlock): string {
  return typeof block.name === "string" ? block.name : "";
}

function collectToolBlocks(entries: readonly Entry[]): { uses: ToolUseAt[]; results: ToolResultAt[] } {
  const uses: ToolUseAt[] = [];
  const results: ToolResultAt[] = [];
  for (const [entryIndex, entry] of entries.entries()) {
    if (!isEntry(entry)) continue;
    if (entry.type === "assistant") {
      for (const block of entryBlocks(entry)) {
        if (block.type === "tool_use" && typeof block.id === "string")
          uses.push({ entry, entryIndex, block });
      }
    } else if (entry.type === "user") {
      for (const block of entryBlocks(entry)) {
        if (block.type === "tool_result") results.push({ entry, entryIndex, block });
      }
    }
  }
  return { uses, results };
}
