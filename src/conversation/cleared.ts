import { type Entry, entryBlocks, isEntry, isMicrocompactBoundary, rawContent } from "./entry.ts";
import type { ContentBlock, ToolResultBlock } from "./message.ts";
import { isBlock } from "./message.ts";
import { stringListField } from "./untrusted.ts";

/** Byte-stable: a text that varied from turn to turn would break the prompt cache on every turn. */
export const CLEARED_RESULT_TEXT = "[Old tool result content cleared]";

/** Results that micro-compactions emptied: on disk they are whole, and only these marks tell. */
export function clearedIdsIn(entries: readonly Entry[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const entry of entries) {
    if (!isEntry(entry) || !isMicrocompactBoundary(entry)) continue;
    for (const id of stringListField(entry.microcompactMetadata, "compactedToolIds")) ids.add(id);
  }
  return ids;
}

export function isCleared(block: ToolResultBlock): boolean {
  return block.content === CLEARED_RESULT_TEXT;
}

/** Ids of the results in this entry that say no more than that they were cleared. */
export function clearedResultIds(entry: Entry): readonly string[] {
  if (!isEntry(entry) || entry.type !== "user") return [];
  return entryBlocks(entry).flatMap((block) =>
    block.type === "tool_result" && isCleared(block) ? [block.tool_use_id] : [],
  );
}

/** The conversation as the model sees it once these results are cleared: block, id and tool use stay. */
export function withClearedResults(
  entries: readonly Entry[],
  clearedToolUseIds: ReadonlySet<string>,
): readonly Entry[] {
  if (clearedToolUseIds.size === 0) return entries;
  return withClearedResultsAt(entries, entries.keys(), clearedToolUseIds);
}

/** As {@link withClearedResults}, where it is known which entries hold them: all others are not looked at. */
export function withClearedResultsAt(
  entries: readonly Entry[],
  indexes: Iterable<number>,
  clearedToolUseIds: ReadonlySet<string>,
): readonly Entry[] {
  let rewritten: Entry[] | undefined;
  for (const index of indexes) {
    const entry = entries[index];
    if (entry === undefined) continue;
    const after = clearInEntry(entry, clearedToolUseIds);
    if (after === entry) continue;
    rewritten ??= entries.slice();
    rewritten[index] = after;
  }
  return rewritten ?? entries;
}

function clearInEntry(entry: Entry, ids: ReadonlySet<string>): Entry {
  if (!isEntry(entry) || entry.type !== "user") return entry;
  const content = rawContent(entry);
  if (!Array.isArray(content)) return entry;
  let cleared: unknown[] | undefined;
  for (let at = 0; at < content.length; at++) {
    const block: unknown = content[at];
    if (!isStale(block, ids)) continue;
    cleared ??= content.slice();
    cleared[at] = { ...block, content: CLEARED_RESULT_TEXT };
  }
  if (cleared === undefined) return entry;
  return { ...entry, message: { ...entry.message, content: cleared as readonly ContentBlock[] } };
}

function isStale(block: unknown, ids: ReadonlySet<string>): block is ToolResultBlock {
  return isBlock(block) && block.type === "tool_result" && ids.has(block.tool_use_id) && !isCleared(block);
}
