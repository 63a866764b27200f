import { type AppliedClearing, applyClearing } from "../clear/apply.ts";
import { type BySizeOptions, chooseBySize, MINIMUM_SAVING_TOKENS, savingBySize } from "../clear/by-size.ts";
import { chooseByTime, MINUTE_MS } from "../clear/by-time.ts";
import type { Clearing } from "../clear/clearing.ts";
import type { MicrocompactBoundaryEntry } from "../conversation/entry.ts";
import { LonghaulError } from "../errors.ts";
import { untilAborted } from "../models/abortable.ts";
import { inProportion } from "../window/thresholds.ts";
import { failureReason } from "./failure-reason.ts";
import { whyNotToClear } from "./guards.ts";
import {
  type ClearingSize,
  netSavingOf,
  paysToClearAtThreshold,
  paysToClearEarly,
  willClearAtThreshold,
} from "./pay-off.ts";
import { snapshotOf } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";

/**
 * Micro: the first thing on every turn, and no model call. Which form is cheapest depends on the cache: once it
 * has gone cold, a rewrite costs nothing; while it is warm, the provider is asked to leave results out of it; and
 * where it cannot, the messages are changed in one batch, when there would be a compaction otherwise or when carrying
 * the results along has become dearer than a rewrite.
 */
export async function clearStale(state: ConversationState, signal: AbortSignal | undefined): Promise<number> {
  state.pace.turn({ tokens: state.size().tokens, clearableTokens: expectedClearing(state).tokensSaved });
  if (whyNotToClear(state.options) !== undefined || state.options.clearing.form === "off") return 0;
  const chosen = choose(state);
  if (chosen !== undefined && !(await isAllWritten(state, signal))) return 0;
  if (chosen !== undefined) carryOut(state, chosen);
  const edited = chosen === undefined && usesCacheEdits(state) ? editCached(state) : undefined;
  return (chosen ?? edited)?.results.length ?? 0;
}

/** The transcript must have a result before its text leaves the messages: the text is nowhere else then. */
async function isAllWritten(
  { transcript }: ConversationState,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    await untilAborted(signal, transcript.flush());
    return true;
  } catch (error) {
    if (error instanceof LonghaulError && failureReason(error) !== "aborted") return false;
    throw error;
  }
}

/** Edits that leave results out of the cached prefix: only the main thread's, and only where the provider has them. */
export function usesCacheEdits({ options, agentId, cachedEdits }: ConversationState): boolean {
  const { form } = options.clearing;
  if (whyNotToClear(options) !== undefined || (form !== "auto" && form !== "cached")) return false;
  return options.capabilities.cacheEdits && agentId === undefined && !cachedEdits.isSuspended;
}

/**
 * The provider's own clearing, by strategies that go with the request. Only where it was chosen: the provider
 * starts anew with every call and always spares the newest three, so the prefix changes with every turn and
 * nothing of it is read from the cache.
 */
export function usesContextEdits({ options }: ConversationState): boolean {
  const { clearing, capabilities } = options;
  return whyNotToClear(options) === undefined && capabilities.contextEdits && clearing.form === "api";
}

function choose(state: ConversationState): Clearing | undefined {
  const { form, idleMinutes } = state.options.clearing;
  const { results } = state.thread.contents;
  if (form === "auto" || form === "time" || form === "cached") {
    const byTime = chooseByTime(results, { idleMs: state.idleMs(), thresholdMs: idleMinutes * MINUTE_MS });
    if (byTime !== undefined) return byTime;
  }
  if (form === "size") return bySize(state);
  if (form !== "auto") return undefined;
  if (isFull(state)) return atThreshold(state);
  return !usesCacheEdits(state) && paysEarly(state) ? bySize(state) : undefined;
}

/** Every clearing of this form costs a rewrite of the cached prefix: before it must be, it has to pay clearly. */
function paysEarly(state: ConversationState): boolean {
  const expected = expectedClearing(state);
  const least = scaled(state, MINIMUM_SAVING_TOKENS) * state.ratio;
  return expected.tokensSaved >= least && paysToClearEarly(state, expected);
}

function atThreshold(state: ConversationState): Clearing | undefined {
  const clearing = bySize(state);
  if (usesCacheEdits(state)) return clearing;
  return paysToClearAtThreshold(state, clearing && sizeOf(state, clearing)) ? clearing : undefined;
}

/** About what {@link bySize} would clear, without looking for it. */
function expectedClearing(state: ConversationState): ClearingSize {
  const { contents } = state.thread;
  return {
    tokensSaved: savingBySize(contents.results, limits(state)) * state.ratio,
    tokensFromFirst: contents.tokensFromOldestResult * state.ratio,
  };
}

function sizeOf(state: ConversationState, { results }: Clearing): ClearingSize {
  const { contents } = state.thread;
  return {
    tokensSaved: gainOf(state, results) * state.ratio,
    tokensFromFirst: contents.tokensFromOldestResult * state.ratio,
  };
}

const gainOf = ({ thread }: ConversationState, results: Clearing["results"]): number =>
  results.reduce((sum, { tokens }) => sum + tokens - thread.contents.results.placeholderTokens, 0);

const bySize = (state: ConversationState): Clearing | undefined =>
  chooseBySize(state.thread.contents.results, limits(state));

const limits = (state: ConversationState): BySizeOptions => ({
  targetTokens: scaled(state, state.options.clearing.targetTokens),
  // To clear what edits leave out already saves nothing.
  minimumSavingTokens: scaled(state, MINIMUM_SAVING_TOKENS) + state.cachedEdits.deletedEstimate,
});

/** What clearing will free when the threshold comes, as far as can be told now. */
export function clearableTokens(state: ConversationState): number {
  if (whyNotToClear(state.options) !== undefined || state.options.clearing.form !== "auto") return 0;
  const clearing = bySize(state);
  if (clearing === undefined) return 0;
  const size = sizeOf(state, clearing);
  return usesCacheEdits(state) || willClearAtThreshold(state, size) ? size.tokensSaved : 0;
}

const isFull = (state: ConversationState): boolean =>
  state.size().paddedTokens >= state.thresholds.autoCompact;

/** In the estimate's own tokens, which is what the index of results counts. */
const scaled = (state: ConversationState, tokens: number): number =>
  inProportion(state.thresholds, tokens) / state.ratio;

/** The messages stay as they are; the request says what to leave out. */
function editCached(state: ConversationState): Clearing | undefined {
  const tokensBefore = state.size().tokens;
  const clearing = state.cachedEdits.register(state.thread.contents.results);
  // The prefix stays in the cache, without them.
  if (clearing !== undefined) report(state, clearing, { tokensBefore, unchangedTokens: tokensBefore });
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
  const cleared = withCleared(state, clearing);
  state.transcript.add([cleared.mark]);
  goOnWith(state, clearing, cleared);
}

/** The transcript has it first: where that fails, nothing has changed. */
export async function clearAsOneStep(state: ConversationState, clearing: Clearing): Promise<void> {
  const cleared = withCleared(state, clearing);
  await state.transcript.commit([cleared.mark]);
  goOnWith(state, clearing, cleared);
}

function goOnWith(state: ConversationState, clearing: Clearing, applied: ClearedMessages): void {
  const tokensBefore = state.size().tokens;
  const { tokensFromFirst } = sizeOf(state, clearing);
  state.noteFindings(state.thread.clear(clearing, applied, applied.mark));
  state.historyChanged();
  if (applied.thinkingLeftOut > 0) {
    state.emit({ type: "thinking-left-out", blocks: applied.thinkingLeftOut, reason: "rewrite" });
  }
  report(state, clearing, { tokensBefore, unchangedTokens: tokensBefore - tokensFromFirst });
}

function withCleared(state: ConversationState, clearing: Clearing): ClearedMessages {
  const { thread, cachedEdits, ratio, bindsThinking } = state;
  const gain = gainOf(state, clearing.results);
  // The last usage is without what edits left out, but for the newest of it.
  const saved = gain - (cachedEdits.deletedEstimate - cachedEdits.deletedLocally);
  const mark = clearedMark(state, clearing, state.size().tokens, Math.round(saved * ratio));
  return { ...applyClearing(thread.entries, clearing, { bindsThinking }), mark };
}

function report(
  state: ConversationState,
  clearing: Clearing,
  before: { readonly tokensBefore: number; readonly unchangedTokens: number },
): void {
  const { form, results, tools, paths } = clearing;
  state.collapse?.resultsCleared();
  if (paths.length > 0) {
    state.host.filesForgotten(paths);
    state.nestedMemory?.forget(paths);
  }
  const tokensAfter = state.size().tokens;
  const saving = netSavingOf(state, { ...before, tokensAfter });
  const { tokensBefore } = before;
  state.emit({
    type: "results-cleared",
    form,
    results: results.length,
    tools,
    tokensBefore,
    tokensAfter,
    netSaving: saving,
  });
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
