import { clearedIdsIn, withClearedResults } from "../conversation/cleared.ts";
import type { Entry } from "../conversation/entry.ts";
import { withoutThinkingFrom } from "../conversation/thinking.ts";

/**
 * Entries of a session as the conversation was: on disk results are whole that a mark says were cleared. The very
 * list where there is no such mark.
 */
export function asSent(entries: readonly Entry[], bindsThinking: boolean): readonly Entry[] {
  const cleared = withClearedResults(entries, clearedIdsIn(entries));
  if (cleared === entries || !bindsThinking) return cleared;
  const first = cleared.findIndex((entry, index) => entry !== entries[index]);
  return withoutThinkingFrom(cleared, first).entries;
}
