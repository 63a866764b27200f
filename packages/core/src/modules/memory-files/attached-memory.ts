import { memoryPathOf } from "../../compaction/restore/read-state.ts";
import { type CountText, measureEntry } from "../../measure/tokens/measure.ts";
import { type Entry, isCompactBoundary, isEntry } from "../../messages/entry.ts";
import { copiedIds } from "../../messages/lines.ts";

/** A memory file that was attached to a conversation. */
export interface AttachedMemory {
  readonly path: string;
  /** Of its newest attachment, as it is sent. */
  readonly tokens: number;
  /** Copies that a compaction or an undo made do not count. */
  readonly times: number;
  /** True if it stands in the conversation as it is now. */
  readonly isVisible: boolean;
}

/**
 * Memory files attached in these entries, in the order in which they first came. Where the entries are a whole session,
 * `conversation` is what is left of it; without that, what comes after the last boundary.
 */
export function memoryFilesIn(
  entries: readonly Entry[],
  countTokens: CountText,
  conversation: readonly Entry[] = afterLastBoundary(entries),
): readonly AttachedMemory[] {
  const visible = new Set<string | undefined>();
  for (const entry of conversation) visible.add(memoryPathOf(entry));
  const found = new Map<string, { newest: Entry; times: number }>();
  for (const entry of entries) {
    const path = memoryPathOf(entry);
    if (path === undefined) continue;
    const isCopy = copiedIds(entry).length > 0;
    found.set(path, { newest: entry, times: (found.get(path)?.times ?? 0) + (isCopy ? 0 : 1) });
  }
  return [...found].map(([path, { newest, times }]) => ({
    path,
    tokens: measureEntry(newest, countTokens),
    times,
    isVisible: visible.has(path),
  }));
}

function afterLastBoundary(entries: readonly Entry[]): readonly Entry[] {
  const last = entries.findLastIndex((entry) => isEntry(entry) && isCompactBoundary(entry));
  return entries.slice(last + 1);
}
