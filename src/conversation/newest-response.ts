import { isCleared } from "./cleared.ts";
import { type Entry, entryBlocks, isEntry, isSummaryEntry, isSynthetic, responseIdOf } from "./entry.ts";
import type { ToolResultBlock } from "./message.ts";

/**
 * Index of the newest response, where results of its calls follow that no model has seen. It and all after it belong
 * together. The number of entries where every result has been seen. A response is one even where it is stored as
 * several entries with results between them.
 */
export function unseenFrom(entries: readonly Entry[]): number {
  const results = new Set<string>();
  let [first, responseId] = [entries.length, undefined as string | undefined];
  let hasUnseen = false;
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (!isEntry(entry)) continue;
    if (!showsModelSpoke(entry)) {
      for (const block of resultsIn(entry)) if (!isCleared(block)) results.add(block.tool_use_id);
      continue;
    }
    if (entry.type !== "assistant" || isSummaryEntry(entry)) break;
    const id = responseIdOf(entry);
    const isFirstFound = first === entries.length;
    if (!isFirstFound && (id === undefined || id !== responseId)) break;
    [first, responseId] = [at, id];
    hasUnseen ||= entryBlocks(entry).some((block) => block.type === "tool_use" && results.has(block.id));
  }
  return hasUnseen ? first : entries.length;
}

/**
 * A response, or a summary of messages that a model has seen. An error made up by the host is neither. A marker of a
 * snip says nothing: it may stand for words of the user alone.
 */
export function showsModelSpoke(entry: Entry): boolean {
  return entry.type === "assistant" ? !isSynthetic(entry) : isSummaryEntry(entry);
}

/** True if the newest response waits for a result. Results that an earlier one never got do not count any more. */
export function hasOpenCalls(entries: readonly Entry[]): boolean {
  const answered = new Set<string>();
  let newest: { readonly id: string | undefined } | undefined;
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (!isEntry(entry)) continue;
    for (const block of resultsIn(entry)) answered.add(block.tool_use_id);
    if (entry.type !== "assistant") continue;
    const id = responseIdOf(entry);
    if (newest !== undefined && (id === undefined || id !== newest.id)) return false;
    newest = { id };
    const isOpen = entryBlocks(entry).some((block) => block.type === "tool_use" && !answered.has(block.id));
    if (isOpen) return true;
  }
  return false;
}

const resultsIn = (entry: Entry): readonly ToolResultBlock[] =>
  entry.type === "user" ? entryBlocks(entry).filter((block) => block.type === "tool_result") : [];
