import type { Entry } from "../conversation/entry.ts";
import { withoutThinkingFrom } from "../conversation/without-thinking.ts";
import { withoutBlocks } from "./bound-thinking.ts";
import { beginRewrite } from "./rewrite.ts";
import type { ConversationState } from "./state.ts";

interface Shortened {
  readonly entries: readonly Entry[];
  readonly blocks: number;
}

/** Leaves out thinking that the model wrote behind other messages than those that are sent before it now. */
export function leaveOutMisplacedThinking(state: ConversationState): void {
  // Without its thinking a message may be sent otherwise, which moves the thinking behind it.
  for (;;) {
    const misplaced = state.thread.misplacedThinking();
    if (misplaced.size === 0) return;
    leaveOut(state, "rewrite", (entries) => withoutBlocks(entries, misplaced));
  }
}

/** Leaves out all thinking. False if there is none. */
export function leaveOutAllThinking(state: ConversationState): boolean {
  const withoutAny = (entries: readonly Entry[]): Shortened => withoutThinkingFrom(entries, 0);
  if (withoutAny(state.thread.entries).blocks === 0) return false;
  leaveOut(state, "mismatch", withoutAny);
  return true;
}

/** The session file gets the shortened lines again, under the same ids. */
function leaveOut(
  state: ConversationState,
  reason: "rewrite" | "mismatch",
  shorten: (entries: readonly Entry[]) => Shortened,
): void {
  const rewrite = beginRewrite(state);
  const { entries, blocks } = shorten(rewrite.entries);
  const again = entries.filter((entry, at) => entry !== rewrite.entries[at]);
  rewrite.goOnWith(entries, { blocks, reason });
  state.transcript.add([...rewrite.marks, ...again], new Set(again));
}
