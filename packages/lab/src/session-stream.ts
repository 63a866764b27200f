import { isCompactBoundary, isMicrocompactBoundary } from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import type { Session } from "@longhaul/sessions";
import { sessionHistory } from "@longhaul/sessions/internal";

/**
 * Returns everything that was said in a session, oldest first, as if the session had never been compacted.
 * Omits the session's own summaries and compaction boundaries. Also omits the reported usage, because it was
 * measured in another window.
 */
export function sessionStream(session: Session): readonly Entry[] {
  const history = sessionHistory(session);
  return toStream(history.entries.filter((entry) => !history.isRepeated(entry)));
}

export function toStream(entries: readonly Entry[]): readonly Entry[] {
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
