import { withOldMediaAsMarks } from "../compact/media-marks.ts";
import { MAX_REQUEST_BYTES, maxMediaFor } from "../conversation/check/limits.ts";
import { withoutThinkingFrom } from "../conversation/thinking.ts";
import type { ConversationState } from "./state.ts";

/** Of the request's bytes, for pictures and documents: texts need the rest. */
const MEDIA_BYTES = MAX_REQUEST_BYTES * 0.75;
/** What is left after a batch, so that the next one is far off: each costs a rewrite of the cached prefix. */
const LEFT_SHARE = 0.75;

/** Old pictures give way before the provider's limits are passed; one by one they would break the cache each turn. */
export function limitMedia(state: ConversationState): void {
  const { thread, facts } = state;
  const { count, bytes } = thread.contents.media;
  const maxCount = maxMediaFor(facts.windowTokens);
  if (count <= maxCount && bytes <= MEDIA_BYTES) return;
  const before = thread.entries;
  const marked = withOldMediaAsMarks(before, {
    maxCount: Math.floor(maxCount * LEFT_SHARE),
    maxBytes: MEDIA_BYTES * LEFT_SHARE,
  });
  const first = marked.findIndex((entry, index) => entry !== before[index]);
  if (first === -1) return;
  const { entries, blocks } = state.bindsThinking
    ? withoutThinkingFrom(marked, first)
    : { entries: marked, blocks: 0 };
  state.noteFindings(thread.rewrite(entries));
  state.historyChanged();
  const left = thread.contents.media.count;
  state.emit({ type: "media-replaced", replaced: count - left, left });
  if (blocks > 0) state.emit({ type: "thinking-left-out", blocks, reason: "rewrite" });
}
