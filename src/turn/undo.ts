import { carriedEntries, continueBefore, restoredEntries } from "../compaction/apply/undo-lines.ts";
import { collapsedUuids } from "../conversation/collapsed.ts";
import type { Entry } from "../conversation/entry.ts";
import { asOneWrite, movedWith } from "../conversation/one-write.ts";
import { messagesBehind } from "../conversation/stand-ins.ts";
import type { StepBack } from "../conversation/undo-rewind.ts";
import { LonghaulError } from "../errors.ts";
import { untilAborted } from "../models/abortable.ts";
import { recentlyReadPaths } from "../restore/read-state.ts";
import { inProportion } from "../window/thresholds.ts";
import type { Message, Turn } from "./options.ts";
import { restart } from "./restart.ts";
import { beginRewrite } from "./rewrite.ts";
import type { ConversationState } from "./state.ts";
import { fromTranscript } from "./transcript-queue.ts";
import { turnResult } from "./turn-result.ts";

/**
 * What may come after an undo before the engine compacts by itself again: an undo that the next turn took back would
 * be none. The blocking limit ends it as well.
 */
const REST_TOKENS = 10_000;

interface GoBackOptions {
  readonly redo: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Takes the newest step back, or the newest undo. The transcript has it first; a failure leaves everything as it was. */
export async function goBack<T extends Message>(
  state: ConversationState,
  messages: readonly T[],
  { redo, signal }: GoBackOptions,
): Promise<Turn<T>> {
  state.takeIn(messages);
  const port = state.options.transcript;
  if (port?.stepBack === undefined) throw transcriptNeeded();
  await untilAborted(signal, state.transcript.flush());
  const found = await fromTranscript(port, signal, async () => port.stepBack?.({ redo }));
  if (found === undefined) throw redo ? nothingToRedo() : nothingToUndo();
  await carryOut(state, found);
  return turnResult<T>(state, {});
}

async function carryOut(state: ConversationState, found: StepBack): Promise<void> {
  const { thread, options } = state;
  const tokensBefore = state.size().tokens;
  const left = thread.entries;
  const back = { ...found, since: sinceInMemory(state, found) };
  const restored = restoredEntries(back);
  const carried = carriedEntries(back, state.bindsThinking);
  const tokens = estimate(state, [...restored, ...carried.entries]);
  const leaf = { entries: left, leafUuid: thread.leaf };
  const { mark, carried: copies } = continueBefore(back, carried.entries, leaf, tokens, options.ports);
  // An edited line is right with or without the undo, so it is no part of the one write.
  const moved = (back.moved ?? []).map((line) => movedWith(line, mark));
  await state.transcript.commit([...(back.edited ?? []), ...asOneWrite([mark, ...moved, ...copies])]);
  thread.plain.readBack(restored);
  for (const [at, copy] of copies.entries()) thread.plain.renewed(carried.entries[at] as Entry, copy);
  goOnWith(state, [...restored, mark, ...copies], left);
  rest(state, back);
  if (back.step.kind === "collapse") state.collapse?.expanded(shownAgain(left, restored));
  if (carried.blocks > 0)
    state.emit({ type: "thinking-left-out", blocks: carried.blocks, reason: "rewrite" });
  state.emit({
    type: "undone",
    direction: mark.undo.direction,
    step: mark.undo.step,
    tokensBefore,
    tokensAfter: state.size().tokens,
    messagesRestored: messagesBehind(restored),
    messagesCarried: messagesBehind(copies),
  });
}

/** As the host has it now: what it took out since stays out. What edits of the cached prefix left out is cleared. */
function sinceInMemory(state: ConversationState, { since }: StepBack): readonly Entry[] {
  const written = new Set(since.map(({ uuid }) => uuid));
  return beginRewrite(state).entries.filter(({ uuid }) => written.has(uuid));
}

const estimate = (state: ConversationState, entries: readonly Entry[]): number =>
  Math.round(
    entries.reduce((sum, entry) => sum + state.tokensOf(entry), state.overheadTokens ?? state.frameTokens()),
  );

/** From here on the conversation is the one from before the step. */
function goOnWith(state: ConversationState, entries: readonly Entry[], left: readonly Entry[]): void {
  restart(state, entries);
  state.notes?.conversationChanged(entries);
  const there = new Set(entries.map(({ uuid }) => uuid));
  const paths = recentlyReadPaths(
    left.filter(({ uuid }) => !there.has(uuid)),
    state.options.fileTools,
  );
  if (paths.length > 0) state.host.filesForgotten(paths);
  state.turnId = state.options.ports.newUuid();
}

/** What somebody wanted to have back is not compacted away at once. */
function rest(state: ConversationState, { step }: StepBack): void {
  const { thresholds } = state;
  const restUntilTokens = Math.min(
    thresholds.blocking,
    state.size().tokens + inProportion(thresholds, REST_TOKENS),
  );
  state.breaker.undone({ restUntilTokens: step.undo === undefined ? restUntilTokens : undefined });
  state.judgement.undone();
}

/** Messages of all spans that are no longer there: one commit may have several. */
function shownAgain(left: readonly Entry[], restored: readonly Entry[]): readonly string[] {
  const there = new Set(restored.map(({ uuid }) => uuid));
  return left.filter(({ uuid }) => !there.has(uuid)).flatMap(collapsedUuids);
}

function transcriptNeeded(): LonghaulError {
  return new LonghaulError("nothing-to-undo", "Without a transcript nothing can be undone.", {
    remedy: "Give the compactor a `transcript` that has `stepBack`, as that of `openTranscript` does.",
  });
}

function nothingToUndo(): LonghaulError {
  return new LonghaulError(
    "nothing-to-undo",
    "Nothing led to this conversation that could be undone: no compaction, collapse or snip.",
    {
      remedy: "What happened before the transcript was begun, or in another session, can only be read there.",
    },
  );
}

function nothingToRedo(): LonghaulError {
  return new LonghaulError(
    "nothing-to-redo",
    "There is no undo to take back, or something was done after it.",
    {
      remedy: "Redo right after the undo; a compaction, collapse or snip in between settles it.",
    },
  );
}
