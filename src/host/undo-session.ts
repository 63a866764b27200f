import type { CompactionPorts } from "../compaction/apply/new-entries.ts";
import {
  carriedEntries,
  continueBefore,
  type LeftConversation,
  restoredEntries,
  type WholeSizes,
  writtenAgain,
} from "../compaction/apply/undo-lines.ts";
import { sizeUp } from "../compaction/plan/sized.ts";
import { type Entry, isCompactBoundary } from "../conversation/entry.ts";
import { movedWith } from "../conversation/one-write.ts";
import type { StepBack } from "../conversation/undo-rewind.ts";
import { LonghaulError } from "../errors.ts";
import { contextTokens } from "../tokens/context-meter.ts";
import { ESTIMATORS, measureEntries } from "../tokens/measure.ts";
import { indexEntries } from "../transcript/entry-index.ts";
import type { Session } from "../transcript/session.ts";
import { type Step, stepBack, stepsOf } from "../transcript/steps.ts";
import { findModel } from "../window/models.ts";
import { sessionRecord } from "../window/session-window.ts";
import { SYSTEM_PORTS, type WriteTarget, type WrittenLines, writeLines } from "./write-lines.ts";

export interface UndoSessionOptions {
  /** Take the last undo back. */
  readonly redo?: boolean | undefined;
  /** The uuid of a step's line, see {@link undoableSteps}: that one is undone, and with it all that are newer. */
  readonly to?: string | undefined;
}

/** An undo that has not been written anywhere. */
export interface SessionUndo {
  readonly session: Session;
  readonly step: Step;
  readonly back: StepBack;
  /** The conversation as it will be: as it was before the step, then what came since. */
  readonly restored: readonly Entry[];
  readonly carried: readonly Entry[];
  /** Thinking that the model signed with another history, and would refuse now. */
  readonly thinkingBlocks: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly overheadTokens: number;
  readonly tokenRatio: number;
}

/** What led to the session's current conversation, newest first; undos among it. */
export function undoableSteps(session: Session): readonly Step[] {
  return [...stepsOf(indexEntries(session.entries))];
}

/** Takes the newest compaction, commit of collapsed spans or snip of a loaded session back, without writing. */
export function undoSession(session: Session, options: UndoSessionOptions = {}): SessionUndo {
  const { redo = false, to } = options;
  const back = stepBack(indexEntries(session.entries), { redo, uuid: to }, session.lines);
  if (back === undefined) throw redo ? nothingToRedo(session) : nothingToUndo(session, to);
  const restored = restoredEntries(back);
  const { entries: carried, blocks } = carriedEntries(back, findModel(session.model).bindsThinking === true);
  const { contextTokens: tokens, overheadTokens, ratio } = sizeUp({ entries: restored }, {});
  // Where the provider counted less than our estimate, all of it shrinks.
  const measured = Math.max(1, measureEntries(restored, ESTIMATORS.o200k));
  const tokenRatio = Math.min(ratio, (tokens - overheadTokens) / measured);
  return {
    session,
    step: back.step,
    back,
    restored,
    carried,
    thinkingBlocks: blocks,
    tokensBefore: contextTokens(session.conversation),
    tokensAfter: tokens + Math.round(measureEntries(carried, ESTIMATORS.o200k) * tokenRatio),
    overheadTokens,
    tokenRatio,
  };
}

/** Whole or not at all. Nothing that stands in the session's file is touched. */
export async function writeUndo(
  result: SessionUndo,
  target: WriteTarget,
  ports: CompactionPorts = SYSTEM_PORTS,
): Promise<WrittenLines> {
  const { session, back, carried, tokensAfter } = result;
  const left: LeftConversation = {
    entries: session.conversation,
    leafUuid: session.leafUuid ?? null,
  };
  const again = (): readonly Entry[] => writtenAgain(back, carried, left, sizesOf(result), ports);
  const source = {
    inPlace: () => {
      // Claude Code goes on from the newest message of its own kind, and may not read beyond the last boundary.
      if (session.version !== undefined) return again();
      const { mark, carried: copies } = continueBefore(back, carried, left, tokensAfter, ports);
      const moved = (back.moved ?? []).map((line) => movedWith(line, mark));
      return [...(back.edited ?? []), mark, ...moved, ...copies];
    },
    asNewSession: (sessionId: string) =>
      again().map((line) => ({ ...withoutUndo(line), sessionId }) as Entry),
  };
  return writeLines(session, source, target, ports);
}

function sizesOf({
  session,
  tokensBefore,
  tokensAfter,
  overheadTokens,
  tokenRatio,
}: SessionUndo): WholeSizes {
  const sizes = { preTokens: tokensBefore, postTokens: tokensAfter, overheadTokens, tokenRatio };
  return { ...sizes, ...sessionRecord(session) };
}

/** In a session of its own there is nothing to go back to. */
function withoutUndo(line: Entry): Entry {
  if (!isCompactBoundary(line) || line.compactMetadata.longhaul === undefined) return line;
  const { undo: _, ...longhaul } = line.compactMetadata.longhaul;
  return { ...line, compactMetadata: { ...line.compactMetadata, longhaul } };
}

function nothingToUndo({ path }: Session, to: string | undefined): LonghaulError {
  const message =
    to === undefined
      ? "Nothing led to this conversation that could be undone: no compaction, collapse or snip of which everything is still in the file."
      : `No step that led to this conversation is ${to}.`;
  return new LonghaulError("nothing-to-undo", message, {
    remedy:
      "`longhaul undo SESSION --list` shows what there is. A new session made with --out has no past: undo in the original.",
    facts: { path },
  });
}

function nothingToRedo({ path }: Session): LonghaulError {
  return new LonghaulError(
    "nothing-to-redo",
    "There is no undo to take back, or something was done after it.",
    {
      remedy: "Only the newest step can be redone: `longhaul undo SESSION --list` shows it.",
      facts: { path },
    },
  );
}
