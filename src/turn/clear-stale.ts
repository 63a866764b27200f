import { applyClearing } from "../clear/apply.ts";
import { chooseBySize, MINIMUM_SAVING_TOKENS } from "../clear/by-size.ts";
import { chooseByTime, MINUTE_MS } from "../clear/by-time.ts";
import type { Clearing } from "../clear/clearing.ts";
import type { MicrocompactBoundaryEntry } from "../conversation/entry.ts";
import { inProportion } from "../window/in-proportion.ts";
import { snapshotOf } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";

/**
 * Micro: the first thing on every turn, and no model call. Which form is cheapest depends on the cache: once it
 * has gone cold, a rewrite costs nothing; while it is warm, the provider is asked to leave results out of it; and
 * where it cannot, the messages are changed only when there would be a compaction otherwise, in one batch.
 */
export function clearStale(state: ConversationState): number {
  const { settings, clearing } = state.options;
  if (!settings.microcompactEnabled || clearing.form === "off") return 0;
  const chosen = choose(state);
  if (chosen !== undefined) carryOut(state, chosen);
  const edited = chosen === undefined && usesCacheEdits(state) ? editCached(state) : undefined;
  return (chosen ?? edited)?.results.length ?? 0;
}

/** Edits that leave results out of the cached prefix: only the main thread's, and only where the provider has them. */
export function usesCacheEdits({ options, agentId, cachedEdits }: ConversationState): boolean {
  const { form } = options.clearing;
  if (form !== "auto" && form !== "cached") return false;
  return options.capabilities.cacheEdits && agentId === undefined && !cachedEdits.isSuspended;
}

/**
 * The provider's own clearing, by strategies that go with the request. Only where it was chosen: the provider
 * starts anew with every call and always spares the newest three, so the prefix changes with every turn and
 * nothing of it is read from the cache.
 */
export function usesContextEdits({ options }: ConversationState): boolean {
  const { settings, clearing, capabilities } = options;
  return settings.microcompactEnabled && capabilities.contextEdits && clearing.form === "api";
}

function choose(state: ConversationState): Clearing | undefined {
  const { form, idleMinutes } = state.options.clearing;
  const { results } = state.thread.contents;
  if (form === "auto" || form === "time" || form === "cached") {
    const byTime = chooseByTime(results, { idleMs: state.idleMs(), thresholdMs: idleMinutes * MINUTE_MS });
    if (byTime !== undefined) return byTime;
  }
  if (form !== "size" && !(form === "auto" && isFull(state))) return undefined;
  return chooseBySize(results, {
    targetTokens: scaled(state, state.options.clearing.targetTokens),
    minimumSavingTokens: scaled(state, MINIMUM_SAVING_TOKENS),
  });
}

/** As late as possible: every clearing of this form costs a rewrite of the cached prefix. */
const isFull = (state: ConversationState): boolean =>
  state.size().paddedTokens >= state.thresholds.autoCompact;

/** In the estimate's own tokens, which is what the index of results counts. */
const scaled = (state: ConversationState, tokens: number): number =>
  inProportion(state.thresholds, tokens) / state.ratio;

/** The messages stay as they are; the request says what to leave out. */
function editCached(state: ConversationState): Clearing | undefined {
  const tokensBefore = state.size().tokens;
  const clearing = state.cachedEdits.register(state.thread.contents.results);
  if (clearing !== undefined) report(state, clearing, tokensBefore);
  return clearing;
}

/**
 * The messages are about to be rewritten, and edits of the cached prefix end with it: what they left out would come
 * back, which may be far more than the window holds. So it is cleared in the messages.
 */
export function clearEdited(state: ConversationState): void {
  const { clearedToolUseIds } = snapshotOf(state);
  const { results } = state.thread.contents;
  const edited = results.results().filter(({ id }) => clearedToolUseIds?.has(id));
  if (edited.length === 0) return;
  // The last usage is without them already, but for the newest; and each leaves its placeholder.
  const saved = state.cachedEdits.deletedLocally - edited.length * results.placeholderTokens;
  rewrite(state, results.describe("cached", edited), saved);
}

function carryOut(state: ConversationState, clearing: Clearing): void {
  const tokensBefore = state.size().tokens;
  rewrite(state, clearing, clearing.tokensBefore - clearing.tokensAfter);
  report(state, clearing, tokensBefore);
}

/** `saved`: by how much less the messages are than the last usage says, by our estimate. */
function rewrite(state: ConversationState, clearing: Clearing, saved: number): void {
  const { thread } = state;
  const applied = applyClearing(thread.entries, clearing, { bindsThinking: state.bindsThinking });
  const mark = clearedMark(state, clearing, state.size().tokens, Math.round(saved * state.ratio));
  state.noteFindings(thread.clear(clearing, applied, mark));
  state.transcript.add([mark]);
  state.historyChanged();
  if (applied.thinkingLeftOut > 0) {
    state.emit({ type: "thinking-left-out", blocks: applied.thinkingLeftOut, reason: "rewrite" });
  }
}

function report(state: ConversationState, clearing: Clearing, tokensBefore: number): void {
  const { form, results, tools, paths } = clearing;
  state.collapse?.resultsCleared();
  if (paths.length > 0) {
    state.host.filesForgotten(paths);
    state.nestedMemory?.forget(paths);
  }
  const tokensAfter = state.size().tokens;
  state.emit({ type: "results-cleared", form, results: results.length, tools, tokensBefore, tokensAfter });
}

/** In the transcript the results stay whole; this tells a reader that they are no longer sent. */
function clearedMark(
  state: ConversationState,
  clearing: Clearing,
  preTokens: number,
  tokensSaved: number,
): MicrocompactBoundaryEntry {
  return {
    ...state.newLink(state.thread.leaf),
    type: "system",
    subtype: "microcompact_boundary",
    microcompactMetadata: {
      compactedToolIds: clearing.results.map(({ id }) => id),
      preTokens,
      tokensSaved,
      ...(state.bindsThinking ? { longhaul: { bindsThinking: true } } : {}),
    },
  };
}
