import { type ContentBlock, isThinking } from "./block.ts";
import type { AssistantEntry, Entry } from "./entry.ts";
import { isBlock, isEntry, rawContent } from "./untrusted.ts";

/**
 * The entries without any thinking from `index` on. Where a model binds its thinking to the exact history
 * before it, a change at `index` makes all later thinking invalid, and leaving it out is always allowed. An
 * entry of nothing but thinking stays, empty, so that indexes and links hold; it is not sent. What has no
 * thinking stays the object it was, and so does the list where nothing changed.
 */
export function withoutThinkingFrom(entries: readonly Entry[], index: number): readonly Entry[] {
  let changed: Entry[] | undefined;
  for (let at = Math.max(0, index); at < entries.length; at++) {
    const entry = entries[at];
    if (!isEntry(entry) || entry.type !== "assistant") continue;
    const after = withoutThinking(entry);
    if (after === entry) continue;
    changed ??= [...entries];
    changed[at] = after;
  }
  return changed ?? entries;
}

function withoutThinking(entry: AssistantEntry): AssistantEntry {
  const content = rawContent(entry);
  const isThought = (block: unknown): boolean => isBlock(block) && isThinking(block);
  if (!Array.isArray(content) || !content.some(isThought)) return entry;
  const left = content.filter((block): block is ContentBlock => !isThought(block));
  return { ...entry, message: { ...entry.message, content: left } };
}
