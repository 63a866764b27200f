import { isCleared } from "./cleared.ts";
import {
  type Entry,
  entryBlocks,
  isEntry,
  isSummaryEntry,
  isSynthetic,
  responseIdOf,
  type UserEntry,
} from "./entry.ts";

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
      addResults(entry, results);
      continue;
    }
    const id = entry.type === "assistant" && !isSummaryEntry(entry) ? responseIdOf(entry) : undefined;
    const isResponse = entry.type === "assistant" && !isSummaryEntry(entry);
    const isFirstFound = first === entries.length;
    if (!isResponse || (!isFirstFound && (id === undefined || id !== responseId))) break;
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

function addResults(entry: Entry, ids: Set<string>): void {
  if (entry.type !== "user") return;
  for (const block of entryBlocks(entry)) {
    if (block.type === "tool_result" && !isCleared(block)) ids.add(block.tool_use_id);
  }
}

/** Whether the newest response waits for a result. What an earlier one never got is not waited for any more. */
export function hasOpenCalls(entries: readonly Entry[]): boolean {
  const answered = new Set<string>();
  let newest: { readonly id: string | undefined } | undefined;
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (!isEntry(entry)) continue;
    if (entry.type === "user") noteResults(entry, answered);
    if (entry.type !== "assistant") continue;
    const id = responseIdOf(entry);
    if (newest !== undefined && (id === undefined || id !== newest.id)) return false;
    newest = { id };
    const isOpen = entryBlocks(entry).some((block) => block.type === "tool_use" && !answered.has(block.id));
    if (isOpen) return true;
  }
  return false;
}

function noteResults(entry: UserEntry, answered: Set<string>): void {
  for (const block of entryBlocks(entry)) if (block.type === "tool_result") answered.add(block.tool_use_id);
}
