import { type Entry, isCompactBoundary, isMicrocompactBoundary } from "../conversation/entry.ts";
import { sessionHistory } from "../host/session-history.ts";
import type { Session } from "../transcript/session.ts";

/**
 * Everything that was said in a session, oldest first, as if it had never been compacted: without the summaries and
 * marks of its own compactions, and without the sizes that the provider reported, which belong to another window.
 */
export function sessionStream(session: Session): readonly Entry[] {
  const history = sessionHistory(session);
  return asStream(history.entries.filter((entry) => !history.isRetold(entry)));
}

export function asStream(entries: readonly Entry[]): readonly Entry[] {
  return entries
    .filter(
      (entry) => entry.type !== "progress" && !isCompactBoundary(entry) && !isMicrocompactBoundary(entry),
    )
    .map(withoutUsage);
}

function withoutUsage(entry: Entry): Entry {
  if (entry.type !== "assistant" || entry.message?.usage === undefined) return entry;
  const { usage: _, ...message } = entry.message;
  return { ...entry, message };
}
