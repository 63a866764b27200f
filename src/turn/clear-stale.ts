import { type AppliedClearing, applyClearing } from "../clear/apply.ts";
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
  return form === "size" || (form === "auto" && isFull(state)) ? bySize(state) : undefined;
}

function bySize(state: ConversationState): Clearing | undefined {
  return chooseBySize(state.thread.contents.results, {
    targetTokens: scaled(state, state.options.clearing.targetTokens),
    // To clear what edits leave out already saves nothing.
    minimumSavingTokens: scaled(state, MINIMUM_SAVING_TOKENS) + state.cachedEdits.deletedEstimate,
  });
}

/** What clearing will free when the threshold comes, as far as can be told now. */
export function clearableTokens(state: ConversationState): number {
  const { settings, clearing } = state.options;
  if (!settings.microcompactEnabled || clearing.form !== "auto") return 0;
  const { placeholderTokens } = state.thread.contents.results;
  const results = bySize(state)?.results ?? [];
  return results.reduce((sum, { tokens }) => sum + tokens - placeholderTokens, 0) * state.ratio;
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

/** Results cleared in the messages, for somebody to go on with. */
interface ClearedMessages extends AppliedClearing {
  readonly mark: MicrocompactBoundaryEntry;
}

/** What edits of the cached prefix leave out, cleared in the messages instead. Undefined where there are no edits. */
export function withEditedCleared(state: ConversationState): ClearedMessages | undefined {
  const { clearedToolUseIds } = snapshotOf(state);
  const { results } = state.thread.contents;
  const edited = results.results().filter(({ id }) => clearedToolUseIds?.has(id));
  return edited.length === 0 ? undefined : withCleared(state, results.describe("cached", edited));
}

function carryOut(state: ConversationState, clearing: Clearing): void {
  const tokensBefore = state.size().tokens;
  const applied = withCleared(state, clearing);
  state.noteFindings(state.thread.clear(clearing, applied, applied.mark));
  state.transcript.add([applied.mark]);
  state.historyChanged();
  if (applied.thinkingLeftOut > 0) {
    state.emit({ type: "thinking-left-out", blocks: applied.thinkingLeftOut, reason: "rewrite" });
  }
  report(state, clearing, tokensBefore);
}

function withCleared(state: ConversationState, clearing: Clearing): ClearedMessages {
  const { thread, cachedEdits, ratio, bindsThinking } = state;
  const { placeholderTokens } = thread.contents.results;
  const gain = clearing.results.reduce((sum, { tokens }) => sum + tokens - placeholderTokens, 0);
  // The last usage is without what edits left out, but for the newest of it.
  const saved = gain - (cachedEdits.deletedEstimate - cachedEdits.deletedLocally);
  const mark = clearedMark(state, clearing, state.size().tokens, Math.round(saved * ratio));
  return { ...applyClearing(thread.entries, clearing, { bindsThinking }), mark };
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
