import type { Entry } from "../conversation/entry.ts";
import type { ConversationState } from "./state.ts";

/** From here on the conversation is this one: what was known of the other, or made ready for it, is forgotten. */
export function restart(state: ConversationState, entries: readonly Entry[]): void {
  state.noteFindings(state.thread.restart(entries));
  state.historyChanged();
  state.snipFreed = 0;
  state.longestIdleMs = 0;
  state.collapse?.reset();
  state.background.reset();
  state.nestedMemory?.forget();
  state.nestedMemory?.attachedIn(entries);
  // What others share is not a subagent's to reset; caches that it was given are its own.
  if (state.ownsSharedState || state.agentId !== undefined) state.host.cleanCaches();
}
