import { clearedIdsIn, withClearedResults } from "../conversation/cleared.ts";
import { type Entry, isMicrocompactBoundary } from "../conversation/entry.ts";
import { withoutThinkingIn } from "../conversation/without-thinking.ts";

/**
 * Entries of a session as the conversation was: on disk results are whole that a mark says were cleared. The very
 * list where there is no such mark. What came after the mark was thought in knowledge of the clearing, so it stays.
 */
export function asSent(entries: readonly Entry[], bindsThinking: boolean): readonly Entry[] {
  const cleared = withClearedResults(entries, clearedIdsIn(entries));
  if (cleared === entries || !bindsThinking) return cleared;
  const from = cleared.findIndex((entry, index) => entry !== entries[index]);
  return withoutThinkingIn(cleared, [{ from, to: cleared.findLastIndex(isMicrocompactBoundary) }]);
}
