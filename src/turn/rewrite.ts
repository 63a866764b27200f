import type { Entry } from "../conversation/entry.ts";
import { withEditedCleared } from "./clear-stale.ts";
import type { EventDetail } from "./events.ts";
import type { ConversationState } from "./state.ts";

export interface Rewrite {
  /** What is to be rewritten. */
  readonly entries: readonly Entry[];
  /** What the next entry is to hang on. */
  readonly leaf: string | null;
  /** For the transcript, before what else is written of it. */
  readonly marks: readonly Entry[];
  goOnWith(entries: readonly Entry[], thinking: LeftOut): void;
}

interface LeftOut {
  readonly blocks: number;
  readonly reason?: Extract<EventDetail, { readonly type: "thinking-left-out" }>["reason"];
}

/**
 * Edits of the cached prefix end when the messages are rewritten: what they left out would come back at once, which
 * may be far more than the window holds. So a rewrite starts from messages in which it is cleared. Nothing has
 * changed before the rewrite is gone on with.
 */
export function beginRewrite(state: ConversationState): Rewrite {
  const { thread } = state;
  const cleared = withEditedCleared(state);
  const marks = cleared === undefined ? [] : [cleared.mark];
  return {
    entries: cleared === undefined ? thread.entries : [...cleared.entries, cleared.mark],
    leaf: cleared?.mark.uuid ?? thread.leaf,
    marks,
    goOnWith(entries, { blocks, reason = "rewrite" }) {
      for (const mark of marks) thread.meter.add(mark);
      state.noteFindings(thread.rewrite(entries));
      state.historyChanged();
      const leftOut = blocks + (cleared?.thinkingLeftOut ?? 0);
      if (leftOut > 0) state.emit({ type: "thinking-left-out", blocks: leftOut, reason });
    },
  };
}
