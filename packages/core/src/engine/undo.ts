import { carriedEntries, continueBefore, restoredEntries } from "../compaction/apply/undo-lines.ts";
import { inProportion } from "../measure/window/thresholds.ts";
import type { Entry } from "../messages/entry.ts";
import { LonghaulError } from "../messages/errors.ts";
import { asOneWrite, movedWith } from "../messages/one-write.ts";
import { collapsedUuids } from "../messages/stand-ins.ts";
import type { StepBack } from "../messages/undo-marks.ts";
import { untilAborted } from "../models/abortable.ts";
import { messagesBehind } from "../request/flatten/count-messages.ts";
import { turnResult } from "./before.ts";
import type { Message, Turn } from "./options.ts";
import type { EngineParts, Needs } from "./parts.ts";
import { beginRewrite, forgetFiles, restart, takeIn } from "./rewrite.ts";
import { fromTranscript } from "./transcript-queue.ts";

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
  parts: EngineParts,
  messages: readonly T[],
  { redo, signal }: GoBackOptions,
): Promise<Turn<T>> {
  takeIn(parts, messages);
  const port = parts.options.transcript;
  if (port?.stepBack === undefined) throw transcriptNeeded();
  await untilAborted(signal, parts.transcript.flush());
  const found = await fromTranscript(port, signal, async () => port.stepBack?.({ redo }));
  if (found === undefined) throw redo ? nothingToRedo() : nothingToUndo();
  await carryOut(parts, found);
  return turnResult<T>(parts, {});
}

async function carryOut(parts: EngineParts, found: StepBack): Promise<void> {
  const { thread, options, gauge, reporter, modules, transcript } = parts;
  const tokensBefore = gauge.size().tokens;
  const left = thread.entries;
  const back = { ...found, since: sinceInMemory(parts, found) };
  const restored = restoredEntries(back);
  const carried = carriedEntries(back, gauge.bindsThinking);
  const tokens = estimate(gauge, [...restored, ...carried.entries]);
  const leaf = { entries: left, leafUuid: thread.leaf };
  const { mark, carried: copies } = continueBefore(back, carried.entries, leaf, tokens, options.ports);
  // An edited line is right with or without the undo, so it is no part of the one write.
  const moved = (back.moved ?? []).map((line) => movedWith(line, mark));
  await transcript.commit([...(back.edited ?? []), ...asOneWrite([mark, ...moved, ...copies])]);
  thread.readBack(
    restored,
    copies.map((copy, at) => [carried.entries[at] as Entry, copy]),
  );
  goOnWith(parts, [...restored, mark, ...copies], left);
  rest(parts, back);
  const shownAgain = back.step.kind === "collapse" ? collapsedAgain(left, restored) : [];
  modules.changed({ kind: "undone", shownAgain });
  if (carried.blocks > 0)
    reporter.emit({ type: "thinking-left-out", blocks: carried.blocks, reason: "rewrite" });
  reporter.emit({
    type: "undone",
    direction: mark.undo.direction,
    step: mark.undo.step,
    tokensBefore,
    tokensAfter: gauge.size().tokens,
    messagesRestored: messagesBehind(restored),
    messagesCarried: messagesBehind(copies),
  });
}

/** As the host has it now: messages that it took out since stay out. Results that requests left out are cleared. */
function sinceInMemory(parts: EngineParts, { since }: StepBack): readonly Entry[] {
  const written = new Set(since.map(({ uuid }) => uuid));
  return beginRewrite(parts).entries.filter(({ uuid }) => written.has(uuid));
}

const estimate = ({ tokensOf, overheadTokens }: Needs<"gauge">["gauge"], entries: readonly Entry[]): number =>
  Math.round(entries.reduce((sum, entry) => sum + tokensOf(entry), overheadTokens));

/** From here on the conversation is the one from before the step. */
function goOnWith(parts: EngineParts, entries: readonly Entry[], left: readonly Entry[]): void {
  restart(parts, entries);
  const there = new Set(entries.map(({ uuid }) => uuid));
  forgetFiles(
    parts,
    left.filter(({ uuid }) => !there.has(uuid)),
  );
  parts.turn.renewId();
}

/** What somebody wanted to have back is not compacted away at once. */
function rest({ gauge, health }: Needs<"gauge" | "health">, { step }: StepBack): void {
  const { thresholds } = gauge;
  const growth = gauge.size().tokens + inProportion(thresholds, REST_TOKENS);
  const restUntilTokens = Math.min(thresholds.blocking, growth);
  health.undone({ restUntilTokens: step.undo === undefined ? restUntilTokens : undefined });
}

/** Messages of all spans that are no longer there: one commit may have several. */
function collapsedAgain(left: readonly Entry[], restored: readonly Entry[]): readonly string[] {
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
