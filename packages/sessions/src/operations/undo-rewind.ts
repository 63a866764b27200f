import type { CompactionPorts } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import {
  carriedEntries,
  continueBefore,
  measureConversation,
  newLink,
  restoredEntries,
  writtenAgain,
} from "@longhaul/core/internal/compaction";
import {
  copiedIds,
  indexOfMessage,
  isCompactBoundary,
  markMoved,
  type RewindMark,
  timeOf,
  undoRecordOf,
} from "@longhaul/core/internal/messages";
import { contextTokens, ESTIMATORS, findModel, measureEntries, sessionRecord } from "@longhaul/core/measure";
import type { Entry, StepBack } from "@longhaul/core/messages";
import { withClearedResults } from "@longhaul/core/messages";
import { type EntryIndex, indexEntries } from "../transcript/entry-index.ts";
import { loadSession, type Session } from "../transcript/load.ts";
import { spokenIn } from "../transcript/prompts.ts";
import { indexedBefore } from "../transcript/relink.ts";
import { type Step, stepBack, stepsOf, stretchesBack } from "../transcript/steps.ts";
import { SYSTEM_PORTS, type WriteTarget, type WrittenLines, writeLines } from "./write-lines.ts";

export interface UndoSessionOptions {
  /** Revert the last undo. */
  readonly redo?: boolean | undefined;
  /** Uuid of a step's line, see {@link undoableSteps}. This step and all newer ones are undone. */
  readonly to?: string | undefined;
}

/** Undo that has not been written yet. */
export interface SessionUndo {
  readonly session: Session;
  readonly step: Step;
  readonly back: StepBack;
  /**
   * Resulting conversation. It contains the messages from before the step, followed by the messages since the
   * step.
   */
  readonly restored: readonly Entry[];
  readonly carried: readonly Entry[];
  /** Number of thinking blocks that the model signed for another history. The model would refuse them now. */
  readonly thinkingBlocks: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly overheadTokens: number;
  readonly tokenRatio: number;
}

/** Returns the steps that led to the session's current conversation, newest first. Undos are included. */
export function undoableSteps(session: Session): readonly Step[] {
  return [...stepsOf(indexEntries(session.entries))];
}

/** Undoes the newest compaction, collapse, expansion or snip of a loaded session, without writing. */
export function undoSession(session: Session, options: UndoSessionOptions = {}): SessionUndo {
  const { redo = false, to } = options;
  const back = stepBack(indexEntries(session.entries), { redo, uuid: to }, session.lines);
  if (back === undefined) {
    if (redo) throw nothingToRedo(session);
    throw to === undefined ? nothingToUndo(session) : stepNotFound(session, to);
  }
  const restored = restoredEntries(back);
  const { entries: carried, blocks } = carriedEntries(back, findModel(session.model).bindsThinking === true);
  const { contextTokens: tokens, overheadTokens, ratio } = measureConversation({ entries: restored }, {});
  // If the provider counted less than our estimate, scale our estimates down.
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

/** Writes an undo atomically. Does not change existing lines of the session file. */
export async function writeUndo(
  result: SessionUndo,
  target: WriteTarget,
  ports: CompactionPorts = SYSTEM_PORTS,
): Promise<WrittenLines> {
  const { session, back, carried, tokensBefore, tokensAfter, overheadTokens, tokenRatio } = result;
  const left = { entries: session.conversation, leafUuid: session.leafUuid ?? null };
  const again = (): readonly Entry[] => {
    const sizes = { preTokens: tokensBefore, postTokens: tokensAfter, overheadTokens, tokenRatio };
    return writtenAgain(back, carried, left, { ...sizes, ...sessionRecord(session) }, ports);
  };
  const source = {
    inPlace: () => {
      // For Claude Code, writes the conversation again. Claude Code continues from the newest message whose
      // type it knows. It may not read lines above the last boundary.
      if (session.version !== undefined) return again();
      const { mark, carried: copies } = continueBefore(back, carried, left, tokensAfter, ports);
      const moved = (back.moved ?? []).map((line) => markMoved(line, mark));
      return [...(back.edited ?? []), mark, ...moved, ...copies];
    },
    asNewSession: (sessionId: string) =>
      again().map((line) => ({ ...withoutUndo(line), sessionId }) as Entry),
  };
  return writeLines(session, source, target, ports);
}

/** Removes the undo record of a line. A new session has no earlier state to return to. */
function withoutUndo(line: Entry): Entry {
  if (!isCompactBoundary(line) || line.compactMetadata.longhaul === undefined) return line;
  const { undo: _, ...longhaul } = line.compactMetadata.longhaul;
  return { ...line, compactMetadata: { ...line.compactMetadata, longhaul } };
}

function nothingToUndo({ path }: Session): LonghaulError {
  return new LonghaulError(
    "nothing-to-undo",
    "Nothing to undo: the session has no compaction, collapse or snip whose messages are still in the file.",
    {
      remedy:
        "`longhaul undo SESSION --list` lists all steps. A session that --out created has no earlier steps: undo in the original session.",
      facts: { path },
    },
  );
}

function stepNotFound({ path }: Session, step: string): LonghaulError {
  return new LonghaulError(
    "undo-step-not-found",
    `No undo step found: this conversation has no step ${step} that can be undone.`,
    { remedy: "`longhaul undo SESSION --list` lists all steps.", facts: { path, step } },
  );
}

function nothingToRedo({ path }: Session): LonghaulError {
  return new LonghaulError(
    "nothing-to-redo",
    "Nothing to redo: the session has no undo to revert, or another step followed it.",
    {
      remedy:
        "You can redo only right after an undo. `longhaul undo SESSION --list` shows the newest step first.",
      facts: { path },
    },
  );
}

/** Message of a person to which a session can be rewound. */
export interface RewindPoint {
  readonly uuid: string;
  readonly text: string;
  readonly timestamp: string;
  /** Number of compactions between this message and the current conversation. */
  readonly compactionsSince: number;
}

/** Session as it was before a prompt. Nothing has been written yet. */
export interface SessionRewind {
  /**
   * Conversation as it was sent before the prompt: boundary, summary, kept messages, attachments, cleared
   * results. It does not include `mark`.
   */
  readonly conversation: readonly Entry[];
  /** Parent of the mark. Undefined if there was nothing before the prompt. */
  readonly leafUuid: string | undefined;
  /**
   * Mark that returns the session to the state before the prompt. Append the mark to the transcript before
   * anything else. It becomes the last entry of the conversation and the parent of the next entry. The mark
   * is never sent to the model.
   */
  readonly mark: Entry;
}

/**
 * Returns the messages of people that led to the current conversation, newest first. Messages before
 * compactions are included. If an earlier rewind abandoned a conversation, its messages are excluded.
 */
export async function rewindPoints(path: string): Promise<readonly RewindPoint[]> {
  const { entries } = await loadSession(path);
  return linesOfPast(indexEntries(entries)).flatMap(([line, compactionsSince]) => {
    const text = spokenIn(line);
    const timestamp = timeOf(line);
    if (text === undefined || line.uuid === undefined || timestamp === undefined) return [];
    return [{ uuid: line.uuid, text, timestamp, compactionsSince }];
  });
}

/**
 * Returns the conversation exactly as it was before a prompt. Also returns a mark that makes this
 * conversation the current one again. The prompt may be any prompt in the file, even in an abandoned
 * conversation.
 */
export async function rewindSession(
  path: string,
  promptUuid: string,
  ports: CompactionPorts = SYSTEM_PORTS,
): Promise<SessionRewind> {
  return rewindLoaded(await loadSession(path), promptUuid, ports);
}

/** Rewinds a loaded session to before a prompt. */
export function rewindLoaded(
  session: Pick<Session, "path" | "entries" | "conversation" | "leafUuid">,
  promptUuid: string,
  ports: CompactionPorts,
): SessionRewind {
  const index = indexEntries(session.entries);
  const prompt =
    index.entries[index.positions.get(promptUuid) ?? -1] ??
    session.conversation[indexOfMessage(session.conversation, promptUuid)] ??
    index.entries[indexOfMessage(index.entries, promptUuid)];
  if (prompt === undefined || spokenIn(prompt) === undefined) throw promptNotFound(session.path, promptUuid);
  const { entries, clearedToolUseIds, leafUuid } = indexedBefore(index, prompt);
  const conversation = withClearedResults(entries, clearedToolUseIds);
  const mark: RewindMark = {
    ...newLink(session.conversation, leafUuid ?? null, ports),
    type: "system",
    subtype: "longhaul_rewind",
    content: "Conversation rewound by longhaul",
    isMeta: false,
    level: "info",
    rewind: {
      before: prompt.uuid ?? promptUuid,
      leftUuid: session.leafUuid ?? null,
      tokens: conversation.length === 0 ? 0 : contextTokens(conversation),
    },
  };
  return { conversation, leafUuid, mark };
}

function promptNotFound(path: string, uuid: string): LonghaulError {
  return new LonghaulError(
    "message-not-found",
    `No message found: no prompt of this session has the uuid ${uuid}.`,
    { remedy: "Pass a uuid that `rewindPoints` returns.", facts: { path, uuid } },
  );
}

/**
 * Returns all lines that led to the current conversation, newest first. Lines before compactions are
 * included. Each pair contains a line and the number of compactions since that line. Each line occurs once,
 * at its first position. Copies that a compaction or an undo wrote do not count.
 */
function linesOfPast(index: EntryIndex): readonly (readonly [Entry, number])[] {
  const places = new Set<number>();
  const compactions: number[] = [];
  for (const { lines, boundary } of stretchesBack(index)) {
    for (const line of lines) {
      const place = placeOfOriginal(index, line);
      if (place !== undefined) places.add(place);
    }
    const place = index.positions.get(boundary?.uuid ?? "");
    if (boundary !== undefined && place !== undefined && undoRecordOf(boundary) === undefined)
      compactions.push(place);
  }
  const newestFirst = [...places].sort((a, b) => b - a);
  let compactionsSince = 0;
  return newestFirst.map((place) => {
    while ((compactions[compactionsSince] ?? -1) > place) compactionsSince += 1;
    return [index.entries[place] as Entry, compactionsSince];
  });
}

/**
 * Returns the position of the original of a copied line. If the session lacks the original, returns the
 * position of the copy. This happens in a session that was made from another one.
 */
function placeOfOriginal({ entries, positions }: EntryIndex, line: Entry): number | undefined {
  const own = positions.get(line.uuid ?? "");
  for (const id of copiedIds(line)) {
    const place = positions.get(id);
    // The original must be above its copy and of the same type. This is checked, because a file may claim
    // anything.
    if (place !== undefined && place < (own ?? 0) && entries[place]?.type === line.type) return place;
  }
  return own;
}
