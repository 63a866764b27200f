import type { CompactionPorts } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import {
  carriedEntries,
  continueBefore,
  newLink,
  restoredEntries,
  sizeUp,
  writtenAgain,
} from "@longhaul/core/internal/compaction";
import {
  contentText,
  copiedIds,
  entryBlocks,
  indexOfMessage,
  isCompactBoundary,
  movedWith,
  type RewindMark,
  timeOf,
  undoRecordOf,
} from "@longhaul/core/internal/messages";
import { classifyUserText } from "@longhaul/core/internal/summary";
import { contextTokens, ESTIMATORS, findModel, measureEntries, sessionRecord } from "@longhaul/core/measure";
import type { Entry, StepBack } from "@longhaul/core/messages";
import { withClearedResults } from "@longhaul/core/messages";
import { type EntryIndex, indexEntries } from "../transcript/entry-index.ts";
import { loadSession, type Session } from "../transcript/load.ts";
import { typedContent } from "../transcript/message-queue.ts";
import { indexedBefore } from "../transcript/relink.ts";
import { type Step, stepBack, stepsOf, stretchesBack } from "../transcript/steps.ts";
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

/** Takes back the newest compaction, collapse, expansion or snip of a loaded session, without writing. */
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
  const { session, back, carried, tokensBefore, tokensAfter, overheadTokens, tokenRatio } = result;
  const left = { entries: session.conversation, leafUuid: session.leafUuid ?? null };
  const again = (): readonly Entry[] => {
    const sizes = { preTokens: tokensBefore, postTokens: tokensAfter, overheadTokens, tokenRatio };
    return writtenAgain(back, carried, left, { ...sizes, ...sessionRecord(session) }, ports);
  };
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
  const message = "There is no undo to take back, or something was done after it.";
  return new LonghaulError("nothing-to-redo", message, {
    remedy: "Only the newest step can be redone: `longhaul undo SESSION --list` shows it.",
    facts: { path },
  });
}

/** Something that a person said, to which a session can be taken back. */
export interface RewindPoint {
  readonly uuid: string;
  readonly text: string;
  readonly timestamp: string;
  /** How many of the compactions that led to the conversation came after it. */
  readonly compactionsSince: number;
}

/** A session as it was before a prompt; nothing of it has been written anywhere. */
export interface SessionRewind {
  /** As it was sent then: boundary, summary, kept messages, attachments, emptied results. Without the mark. */
  readonly conversation: readonly Entry[];
  /** What the mark hangs on; undefined where there was nothing before the prompt. */
  readonly leafUuid: string | undefined;
  /**
   * To be appended to the transcript before anything else: from then on the session is the one from before the
   * prompt. The next entry hangs on it, so it is also the last of what is gone on with. Never sent.
   */
  readonly mark: Entry;
}

/**
 * What people said on the way to the current conversation, newest first, also before its compactions. What they said
 * in a conversation that they left by an earlier rewind is not among it.
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
 * The conversation exactly as it was right before a prompt was said, and a mark that takes the session back there.
 * The prompt may be any that stands in the file, also in a conversation that was left.
 */
export async function rewindSession(
  path: string,
  promptUuid: string,
  ports: CompactionPorts = SYSTEM_PORTS,
): Promise<SessionRewind> {
  return rewindLoaded(await loadSession(path), promptUuid, ports);
}

/** The same of a session that has been read whole. */
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
    content: "Conversation taken back by longhaul",
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

/** What a person said in an entry. Pictures without a word are said too. */
export function spokenIn(entry: Entry): string | undefined {
  if (entry.type !== "user") return undefined;
  const text = promptIn(entry);
  if (text !== undefined || entry.isMeta === true || entry.isCompactSummary === true) return text;
  const blocks = entryBlocks(entry);
  const isShown = blocks.length > 0 && blocks.every(({ type }) => type === "image" || type === "document");
  return isShown ? blocks.map(({ type }) => `[${type}]`).join(" ") : undefined;
}

function promptNotFound(path: string, uuid: string): LonghaulError {
  return new LonghaulError("message-not-found", `Nothing that a person said in this session is ${uuid}.`, {
    remedy: "Take a uuid from `rewindPoints`.",
    facts: { path, uuid },
  });
}

/**
 * All lines that led to the current conversation, also from before its compactions, each with the number of compactions
 * since. Newest first, each once, as it was first written: a copy made for a compaction or an undo is none of its own.
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

/** In a session that was made of another one, the original may be in no line: then the copy is what there is. */
function placeOfOriginal({ entries, positions }: EntryIndex, line: Entry): number | undefined {
  const own = positions.get(line.uuid ?? "");
  for (const id of copiedIds(line)) {
    const place = positions.get(id);
    // A file may claim anything: an original stands above its copy and is of its kind.
    if (place !== undefined && place < (own ?? 0) && entries[place]?.type === line.type) return place;
  }
  return own;
}

const HUMAN_KINDS: ReadonlySet<string> = new Set(["request", "command", "shell"]);

/** What the user wrote, of an entry that is a prompt. */
export function promptIn(entry: Entry): string | undefined {
  const said = classifyUserText(contentText(typedContent(entry)));
  return HUMAN_KINDS.has(said.kind) && "text" in said ? said.text : undefined;
}
