import { chooseByHand } from "../clear/by-hand.ts";
import { LonghaulError } from "../errors.ts";
import { clearAsOneStep } from "./clear-stale.ts";
import { compactionDisabled, whyNotToCompactByHand } from "./guards.ts";
import type { ClearOptions, Message, Turn } from "./options.ts";
import { snapshotOf } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";
import { turnResult } from "./turn-result.ts";

/** The user asked: no saving is too small, and only the switch for everything stops it. */
export async function clearByHand<T extends Message>(
  state: ConversationState,
  messages: readonly T[],
  { keep }: ClearOptions,
): Promise<Turn<T>> {
  if (whyNotToCompactByHand(state.options) !== undefined) throw compactionDisabled();
  state.takeIn(messages);
  const { results } = state.thread.contents;
  const leftOut = snapshotOf(state).clearedToolUseIds;
  const clearing = chooseByHand(results, { keep, leftOut });
  if (clearing === undefined) throw nothingToClear(results.activeCount);
  await clearAsOneStep(state, clearing);
  return turnResult<T>(state, { cleared: clearing.results.length });
}

function nothingToClear(results: number): LonghaulError {
  const [message, remedy] =
    results === 0
      ? [
          "No result of a tool that can be run again is left in the conversation.",
          "Compact the conversation to make more room.",
        ]
      : [
          "Only the newest results of tools are left in the conversation, and they stay.",
          "Keep fewer of them, or compact the conversation.",
        ];
  return new LonghaulError("nothing-to-clear", message, { remedy, facts: { results } });
}
