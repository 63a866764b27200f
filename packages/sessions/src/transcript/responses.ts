import { isSynthetic } from "@longhaul/core/internal/messages";
import type { AssistantEntry, Entry, Usage } from "@longhaul/core/messages";

/** Response of the model. A session file splits it into several entries with the same id. */
export interface ModelResponse {
  readonly id: string | undefined;
  readonly requestId: string | undefined;
  readonly model: string | undefined;
  /**
   * Usage in the last line that reports usage. All lines of a response repeat the usage, but only the last
   * line has the full output.
   */
  readonly usage: Usage | undefined;
  /** True if the agent wrote the response in the model's name, without a model call. */
  readonly isSynthetic: boolean;
  readonly entries: readonly AssistantEntry[];
}

/**
 * Returns the model's responses in the order in which they started. Sum up the usage of these responses,
 * never the usage of lines.
 */
export function responses(entries: readonly Entry[]): readonly ModelResponse[] {
  const groups = new Map<unknown, AssistantEntry[]>();
  for (const entry of entries) {
    if (entry.type !== "assistant") continue;
    const key = entry.message.id ?? entry;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  return Array.from(groups.values(), responseOf);
}

/** Returns the usage of the last line with this message id that has usage. */
export function lastUsageOfMessage(entries: readonly Entry[], messageId: string): Usage | undefined {
  const line = entries.findLast(
    (entry) =>
      entry.type === "assistant" && entry.message.id === messageId && entry.message.usage !== undefined,
  );
  return line?.type === "assistant" ? line.message.usage : undefined;
}

function responseOf(group: readonly AssistantEntry[]): ModelResponse {
  const first = group[0];
  return {
    id: first?.message.id,
    requestId: first?.requestId,
    model: first?.message.model,
    usage: group.findLast((entry) => entry.message.usage !== undefined)?.message.usage,
    isSynthetic: group.every(isSynthetic),
    entries: group,
  };
}

/**
 * Removes entries that an earlier session of the list already has, so that totals over several files count
 * each entry once. A fork copies its history into a new file, with a new session id and the same uuids.
 */
export function dedupeAcrossFiles<T extends { readonly entries: readonly Entry[] }>(
  sessions: readonly T[],
): readonly T[] {
  const known = new Set<string>();
  return sessions.map((session) => {
    const entries = session.entries.filter((entry) => !keysOf(entry).some((key) => known.has(key)));
    for (const entry of entries) for (const key of keysOf(entry)) known.add(key);
    return entries.length === session.entries.length ? session : { ...session, entries };
  });
}

/**
 * Returns keys that identify an entry. Some tools give copied lines new uuids, but keep the provider's ids.
 */
function keysOf(entry: Entry): readonly string[] {
  const uuid = entry.uuid === undefined ? [] : [entry.uuid];
  if (entry.type !== "assistant" || entry.message.id === undefined || entry.requestId === undefined)
    return uuid;
  return [...uuid, `${entry.message.id}\n${entry.requestId}`];
}
