import { carriedEntries, continueBefore, restoredEntries } from "../compaction/apply/undo-lines.ts";
import { inProportion } from "../measure/window/thresholds.ts";
import { asAtomicWrite, markMoved } from "../messages/atomic-write.ts";
import type { Entry } from "../messages/entry.ts";
import { LonghaulError } from "../messages/errors.ts";
import { collapsedUuids } from "../messages/stand-ins.ts";
import type { StepBack } from "../messages/undo-marks.ts";
import { untilAborted } from "../models/abortable.ts";
import { countOriginalMessages } from "../request/flatten/count-messages.ts";
import { turnResult } from "./before.ts";
import type { Message, Turn } from "./options.ts";
import type { EngineParts, Needs } from "./parts.ts";
import { beginRewrite, forgetFiles, restart } from "./rewrite.ts";
import { readWithTimeLimit } from "./transcript-queue.ts";

/**
 * Length of the pause after an undo, in added tokens. During the pause, the engine does not compact
 * automatically. Otherwise the next turn could revert the undo. The blocking limit also ends the pause.
 */
const REST_TOKENS = 10_000;

interface UndoStepOptions {
  readonly redo: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * Undoes the newest step, or redoes the newest undo. Writes the transcript first. A failure changes nothing.
 */
export async function undoStep<T extends Message>(
  parts: EngineParts,
  { redo, signal }: UndoStepOptions,
): Promise<Turn<T>> {
  const port = parts.options.transcript;
  if (port?.stepBack === undefined) throw transcriptNeeded();
  await untilAborted(signal, parts.transcript.flush());
  const found = await readWithTimeLimit(port, signal, async () => port.stepBack?.({ redo }));
  if (found === undefined) throw redo ? nothingToRedo() : nothingToUndo();
  await carryOut(parts, found);
  return turnResult<T>(parts, {});
}

async function carryOut(parts: EngineParts, found: StepBack): Promise<void> {
  const { thread, options, gauge, reporter, modules, transcript } = parts;
  const tokensBefore = gauge.size().tokens;
  const left = thread.entries;
  const back = { ...found, since: currentMessagesSince(parts, found) };
  const restored = restoredEntries(back);
  const carried = carriedEntries(back, gauge.bindsThinking);
  const tokens = estimate(gauge, [...restored, ...carried.entries]);
  const leaf = { entries: left, leafUuid: thread.leaf };
  const { mark, carried: copies } = continueBefore(back, carried.entries, leaf, tokens, options.ports);
  // Edited lines are not part of the atomic write, because they are correct with or without the undo.
  const moved = (back.moved ?? []).map((line) => markMoved(line, mark));
  await transcript.commit([...(back.edited ?? []), ...asAtomicWrite([mark, ...moved, ...copies])]);
  thread.registerStored(
    restored,
    copies.map((copy, at) => [carried.entries[at] as Entry, copy]),
  );
  replaceConversation(parts, [...restored, mark, ...copies], left);
  pauseAutoCompact(parts, back);
  const shownAgain = back.step.kind === "collapse" ? removedSpanUuids(left, restored) : [];
  modules.onChange({ kind: "undone", shownAgain });
  if (carried.blocks > 0)
    reporter.emit({ type: "thinking-left-out", blocks: carried.blocks, reason: "rewrite" });
  reporter.emit({
    type: "undone",
    direction: mark.undo.direction,
    step: mark.undo.step,
    tokensBefore,
    tokensAfter: gauge.size().tokens,
    messagesRestored: countOriginalMessages(restored),
    messagesCarried: countOriginalMessages(copies),
  });
}

/**
 * Returns the messages since the step, as the host has them now. Messages that the host removed stay removed.
 * Tool results that the provider dropped are cleared.
 */
function currentMessagesSince(parts: EngineParts, { since }: StepBack): readonly Entry[] {
  const written = new Set(since.map(({ uuid }) => uuid));
  return beginRewrite(parts).entries.filter(({ uuid }) => written.has(uuid));
}

const estimate = ({ tokensOf, overheadTokens }: Needs<"gauge">["gauge"], entries: readonly Entry[]): number =>
  Math.round(entries.reduce((sum, entry) => sum + tokensOf(entry), overheadTokens));

/** Replaces the conversation with the one before the step. */
function replaceConversation(parts: EngineParts, entries: readonly Entry[], left: readonly Entry[]): void {
  restart(parts, entries);
  const there = new Set(entries.map(({ uuid }) => uuid));
  forgetFiles(
    parts,
    left.filter(({ uuid }) => !there.has(uuid)),
  );
  parts.turn.renewId();
}

/** Prevents an immediate compaction of the messages that the user just restored. */
function pauseAutoCompact({ gauge, health }: Needs<"gauge" | "health">, { step }: StepBack): void {
  const { thresholds } = gauge;
  const growth = gauge.size().tokens + inProportion(thresholds, REST_TOKENS);
  const restUntilTokens = Math.min(thresholds.blocking, growth);
  health.recordUndo({ restUntilTokens: step.undo === undefined ? restUntilTokens : undefined });
}

/**
 * Returns the ids of the messages of all collapsed spans that the undo removed. An undo can remove several
 * spans.
 */
function removedSpanUuids(left: readonly Entry[], restored: readonly Entry[]): readonly string[] {
  const there = new Set(restored.map(({ uuid }) => uuid));
  return left.filter(({ uuid }) => !there.has(uuid)).flatMap(collapsedUuids);
}

function transcriptNeeded(): LonghaulError {
  return new LonghaulError("transcript-required", "Undo and redo need a transcript that has `stepBack`.", {
    remedy: "Pass such a `transcript` to the compactor. `openTranscript` returns one.",
  });
}

function nothingToUndo(): LonghaulError {
  return new LonghaulError(
    "nothing-to-undo",
    "Nothing to undo: no compaction, collapse or snip led to this conversation.",
    {
      remedy:
        "You cannot undo steps from before the transcript began, or steps of another session. You can still read the steps of another session in its transcript.",
    },
  );
}

function nothingToRedo(): LonghaulError {
  return new LonghaulError(
    "nothing-to-redo",
    "Nothing to redo: the conversation has no undo to revert, or another step followed it.",
    {
      remedy: "Redo right after the undo. After another compaction, collapse or snip you cannot redo it.",
    },
  );
}
