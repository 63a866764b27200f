import { withOldMediaAsMarks } from "../compaction/plan/media-marks.ts";
import { MAX_REQUEST_BYTES, maxMediaFor } from "../conversation/check/limits.ts";
import { withoutThinkingFrom } from "../conversation/without-thinking.ts";
import { beginRewrite } from "./rewrite.ts";
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
  const left = { maxCount: Math.floor(maxCount * LEFT_SHARE), maxBytes: MEDIA_BYTES * LEFT_SHARE };
  if (withOldMediaAsMarks(thread.entries, left) === thread.entries) return;
  const rewrite = beginRewrite(state);
  const marked = withOldMediaAsMarks(rewrite.entries, left);
  const first = marked.findIndex((entry, index) => entry !== rewrite.entries[index]);
  // What is cleared may have held all that was too much.
  const { entries, blocks } =
    state.bindsThinking && first !== -1 ? withoutThinkingFrom(marked, first) : { entries: marked, blocks: 0 };
  rewrite.goOnWith(entries, { blocks });
  state.transcript.add(rewrite.marks);
  const { count: leftCount } = thread.contents.media;
  state.emit({ type: "media-replaced", replaced: count - leftCount, left: leftCount });
}
