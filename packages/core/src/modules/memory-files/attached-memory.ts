import { memoryPathOf } from "../../compaction/restore/read-state.ts";
import { type CountText, measureEntry } from "../../measure/tokens/measure.ts";
import { type Entry, isCompactBoundary, isEntry } from "../../messages/entry.ts";
import { copiedIds } from "../../messages/lines.ts";

/** A memory file that was attached to a conversation. */
export interface AttachedMemory {
  readonly path: string;
  /** Tokens of the newest attachment of the file, in the form in which it is sent. */
  readonly tokens: number;
  /** Number of attachments, without copies that a compaction or an undo made. */
  readonly times: number;
  /** True if the current conversation contains the file. */
  readonly isVisible: boolean;
}

/**
 * Lists the memory files attached in these entries, in order of their first attachment. If the entries are a
 * whole session, pass the current part as `conversation`. The default is everything after the last boundary.
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
