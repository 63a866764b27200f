import { type SnipSelection, snip } from "../compact/snip.ts";
import type { Entry } from "../conversation/entry.ts";
import type { SnipMarker } from "../conversation/snipped.ts";
import type { Message, Turn } from "./options.ts";
import { beginRewrite } from "./rewrite.ts";
import type { ConversationState } from "./state.ts";
import { turnResult } from "./turn-result.ts";

/** Chosen old messages go, with a marker in their place. Until the next usage, what they held is subtracted. */
export async function snipMessages<T extends Message>(
  state: ConversationState,
  messages: readonly T[],
  selection: SnipSelection,
): Promise<Turn<T>> {
  state.takeIn(messages);
  // The marker says that what was removed can be read there.
  await state.transcript.flush();
  const { thread, options } = state;
  const rewrite = beginRewrite(state);
  const snipped = snip(rewrite.entries, inEntries(state, messages, selection), {
    ports: options.ports,
    tokensOf: state.tokensOf,
    leafUuid: rewrite.leaf,
    bindsThinking: state.bindsThinking,
    transcriptPath: options.transcript?.path,
  });
  if (snipped.removed > 0) {
    const end = endOfSnip(state, snipped.markers);
    rewrite.goOnWith([...snipped.entries, end], { blocks: snipped.thinkingBlocks });
    state.transcript.add([...rewrite.marks, ...snipped.markers, end]);
    state.nestedMemory?.attachedIn(thread.entries);
    state.snipFreed += snipped.tokensFreed;
    state.emit({ type: "snipped", messages: snipped.messages, tokensFreed: snipped.tokensFreed });
  }
  return turnResult<T>(state, {});
}

/**
 * Never sent. Markers stand where messages were, but on disk they are the newest lines: what comes next hangs on the
 * last entry of the conversation, be it ours or the host's, and a reader must not pass the markers by.
 */
function endOfSnip(state: ConversationState, markers: readonly SnipMarker[]): Entry {
  const link = state.newLink(markers.at(-1)?.uuid ?? state.thread.leaf);
  const content = "Messages removed by longhaul";
  return { ...link, type: "system", subtype: "informational", content } as unknown as Entry;
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
