import type { Entry, UserEntry } from "./entry.ts";
import { entryBlocks, isEntry, responseIdOf } from "./untrusted.ts";

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
