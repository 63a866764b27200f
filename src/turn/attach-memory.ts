import type { AttachmentEntry, Entry } from "../conversation/entry.ts";
import { isEntry } from "../conversation/entry.ts";
import { visiblePaths } from "../restore/read-state.ts";
import { inProportion } from "../window/thresholds.ts";
import { snapshotOf } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";

/** For what is attached in one turn. Rules that take more would leave little of the window for the work. */
const MEMORY_BUDGET_TOKENS = 20_000;

/** Memory files that govern what the agent has touched since the last call, once each, after the newest message. */
export async function attachMemoryFiles(
  state: ConversationState,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { nestedMemory, options, thread } = state;
  if (nestedMemory === undefined || isAnswerOpen(thread.entries)) return;
  const { attachments, files, skipped } = await nestedMemory.drain({
    countTokens: state.countTokens,
    budgetTokens: inProportion(state.thresholds, MEMORY_BUDGET_TOKENS),
    visible: () => {
      const { entries, clearedToolUseIds } = snapshotOf(state);
      return visiblePaths(entries, { tools: options.fileTools, clearedToolUseIds });
    },
    signal,
  });
  if (attachments.length > 0) {
    let parent = thread.leaf;
    const entries = attachments.map((attachment): AttachmentEntry => {
      const link = state.newLink(parent);
      parent = link.uuid;
      return { ...link, type: "attachment", attachment };
    });
    state.noteFindings(thread.attach(entries));
    state.transcript.add(entries);
  }
  if (files.length > 0 || skipped.length > 0) state.emit({ type: "memory-attached", files, skipped });
}

/** The model is to go on with its own message, or a result is still to come: nothing may stand between. */
function isAnswerOpen(entries: readonly Entry[]): boolean {
  const newest = entries.findLast(
    (entry) => isEntry(entry) && entry.type !== "system" && entry.type !== "progress",
  );
  return newest?.type === "assistant";
}
