import { planCompaction } from "../compaction/plan/compaction-plan.ts";
import { isForced } from "../compaction/worthwhile.ts";
import type { NotesDecline } from "../notes/as-summary.ts";
import { passOverNotes, planByNotes } from "./from-notes.ts";
import { compactionDisabled, whyNotToCompactByHand } from "./guards.ts";
import type { ManualOptions, Message, Turn } from "./options.ts";
import { runCompaction } from "./run-compaction.ts";
import { limitOf, measuredBy, snapshotOf } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";
import { turnResult } from "./turn-result.ts";

/** The user asked: no threshold and no breaker, and what goes wrong is for the user to see. */
export async function compactByHand<T extends Message>(
  state: ConversationState,
  messages: readonly T[],
  options: ManualOptions,
): Promise<Turn<T>> {
  if (whyNotToCompactByHand(state.options) !== undefined) throw compactionDisabled();
  state.takeIn(messages);
  const { from, upTo, instructions, signal } = options;
  const force = isForced(options);
  const picked = from ?? upTo;
  const declined = notesDecline(options);
  const byNotes =
    declined === undefined ? await planByNotes(state, "manual", signal) : passOverNotes(state, declined);
  if (byNotes !== undefined) {
    const compaction = await runCompaction(state, { trigger: "manual", ...byNotes, force, signal });
    return turnResult<T>(state, { compaction });
  }
  const plan = planCompaction(snapshotOf(state), {
    trigger: "manual",
    variant: from !== undefined ? "from" : upTo !== undefined ? "up-to" : "whole",
    at: picked === undefined ? undefined : state.thread.referTo(picked, messages),
    keepRecentTokens: options.keepRecentTokens,
    usualKeepRecentTokens: state.options.compaction.keepRecentTokens,
    force,
    targetTokens: state.thresholds.autoCompact,
    limitTokens: limitOf(state),
    measured: measuredBy(state),
  });
  const targetTokens = state.thresholds.autoCompact;
  const compaction = await runCompaction(state, {
    trigger: "manual",
    plan,
    instructions,
    force,
    targetTokens,
    signal,
  });
  return turnResult<T>(state, { compaction });
}

/** Notes know nothing of what the user wishes for beyond less. */
function notesDecline({
  from,
  upTo,
  instructions,
  keepRecentTokens,
}: ManualOptions): NotesDecline | undefined {
  if (from !== undefined || upTo !== undefined) return "partial-compaction";
  if (instructions) return "instructions";
  return keepRecentTokens === undefined ? undefined : "keep-recent-tokens";
}
