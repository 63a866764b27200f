import type { AssistantEntry, Entry, UserEntry } from "./entry.ts";
import { entryBlocks, isEntry } from "./entry.ts";
import type { ToolResultBlock, ToolUseBlock } from "./message.ts";

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
  const pairs = new Map<string, OpenPair>();
  const repeatedUses: ToolUseAt[] = [];
  const results = collect(entries, pairs, repeatedUses);
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
  const unanswered: ToolPair[] = [];
  for (const pair of pairs.values()) if (pair.results.length === 0) unanswered.push(pair);
  return { pairs, unanswered, orphanResults, secondResults, repeatedUses };
}

type OpenPair = ToolPair & { readonly results: ToolResultAt[] };

/** One pass: uses become pairs, and all results are given back, since one may stand before its use. */
function collect(
  entries: readonly Entry[],
  pairs: Map<string, OpenPair>,
  repeatedUses: ToolUseAt[],
): readonly ToolResultAt[] {
  const results: ToolResultAt[] = [];
  for (let entryIndex = 0; entryIndex < entries.length; entryIndex++) {
    const entry = entries[entryIndex];
    if (!isEntry(entry)) continue;
    if (entry.type === "assistant") {
      for (const block of entryBlocks(entry)) {
        if (block.type !== "tool_use" || typeof block.id !== "string") continue;
        const use = { entry, entryIndex, block };
        if (pairs.has(block.id)) repeatedUses.push(use);
        else pairs.set(block.id, { id: block.id, name: nameOf(block), use, results: [] });
      }
    } else if (entry.type === "user") {
      for (const block of entryBlocks(entry)) {
        if (block.type === "tool_result") results.push({ entry, entryIndex, block });
      }
    }
  }
  return results;
}

/** Not every file has a name on every call. */
function nameOf(block: ToolUseBlock): string {
  return typeof block.name === "string" ? block.name : "";
}
