import { type SnipSelection, snip } from "../compact/snip.ts";
import type { Entry, SnipEnd } from "../conversation/entry.ts";
import { recentlyReadPaths } from "../restore/read-state.ts";
import type { Message, Turn } from "./options.ts";
import { isReport } from "./reports-before-mark.ts";
import { beginRewrite } from "./rewrite.ts";
import type { ConversationState } from "./state.ts";
import { turnResult } from "./turn-result.ts";

/**
 * Removes chosen old messages and leaves a marker in their place. The transcript has the markers before the conversation
 * changes. Until the next usage arrives, the engine subtracts what was freed.
 */
export async function snipMessages<T extends Message>(
  state: ConversationState,
  messages: readonly T[],
  selection: SnipSelection,
): Promise<Turn<T>> {
  state.takeIn(messages);
  // The marker says that what was removed can be read there.
  await state.transcript.flush();
  const { options, thread } = state;
  const rewrite = beginRewrite(state);
  const snipped = snip(rewrite.entries, inEntries(state, messages, selection), {
    ports: options.ports,
    tokensOf: state.tokensOf,
    leafUuid: rewrite.leaf,
    bindsThinking: state.bindsThinking,
    transcriptPath: options.transcript?.path,
  });
  if (snipped.removed > 0) {
    const end: SnipEnd = {
      ...state.newLink(snipped.markers.at(-1)?.uuid ?? thread.leaf),
      type: "system",
      subtype: "informational",
      content: "Messages removed by longhaul",
      snip: { tokensSaved: savedBeforeReport(state, rewrite.entries, snipped.entries) },
    };
    await state.transcript.commit([...rewrite.marks, ...snipped.markers, end]);
    rewrite.goOnWith([...snipped.entries, end], { blocks: snipped.thinkingBlocks });
    forget(state, rewrite.entries);
    state.snipFreed += snipped.tokensFreed;
    state.emit({ type: "snipped", messages: snipped.messages, tokensFreed: snipped.tokensFreed });
  }
  const { messages: removed, added, spared, tokensFreed } = snipped;
  return turnResult<T>(state, { snipped: { messages: removed, added, spared, tokensFreed } });
}

/** A usage after the removed messages includes them; an earlier one does not. */
function savedBeforeReport(
  { tokensOf }: ConversationState,
  before: readonly Entry[],
  after: readonly Entry[],
): number {
  const report = after.findLast(isReport);
  if (report === undefined) return 0;
  const tokensUpTo = (entries: readonly Entry[]): number =>
    entries
      .slice(
        0,
        entries.findLastIndex(({ uuid }) => uuid === report.uuid),
      )
      .reduce((sum, entry) => sum + tokensOf(entry), 0);
  return Math.max(0, Math.round(tokensUpTo(before) - tokensUpTo(after)));
}

/** The agent no longer sees the files that the removed messages showed. */
function forget({ host, nestedMemory, options, thread }: ConversationState, before: readonly Entry[]): void {
  const left = new Set(thread.entries.map(({ uuid }) => uuid));
  const gone = before.filter(({ uuid }) => !left.has(uuid));
  const paths = recentlyReadPaths(gone, options.fileTools);
  if (paths.length > 0) host.filesForgotten(paths);
  nestedMemory?.attachedIn(thread.entries);
}

/** A host counts in its own messages. */
function inEntries(
  { thread }: ConversationState,
  messages: readonly Message[],
  selection: SnipSelection,
): SnipSelection {
  if (!("from" in selection)) return selection;
  const { from, to } = selection;
  return { from: thread.referTo(from, messages), to: thread.referTo(to, messages) };
}
