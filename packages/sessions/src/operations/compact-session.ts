import { basename, resolve } from "node:path";
import type { CompactionPorts } from "@longhaul/core/compaction";
import {
  type Compaction,
  type CompactionPlan,
  type CompactOptions,
  compact,
  conventionsOf,
  linesInPlace,
  linesOfNewSession,
  type PlanOptions,
  planCompaction,
} from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import type { MessageRef, SizedConversation } from "@longhaul/core/internal/compaction";
import { isForced } from "@longhaul/core/internal/compaction";
import { indexInConversation } from "@longhaul/core/internal/messages";
import { findModel, sessionRecord } from "@longhaul/core/measure";
import type { HostState } from "@longhaul/core/restore";
import { type NotesDecline, type NotesKeep, notesSource, planFromNotes } from "@longhaul/notes/internal/work";
import { fileState } from "../machine/file-state.ts";
import type { Session } from "../transcript/load.ts";
import { isSessionId, type UserPlaces } from "../transcript/locations.ts";
import { coveredIn } from "./notes-coverage.ts";
import { knownFacts } from "./session-ledgers.ts";
import { type SessionProject, sessionProject } from "./session-project.ts";
import { SYSTEM_PORTS, type WriteTarget, type WrittenLines, writeLines } from "./write-lines.ts";

export interface CompactSessionOptions
  extends Omit<
    CompactOptions,
    "bindsThinking" | "source" | "transcriptPath" | "targetTokens" | "previousLedger" | "sessionRecord"
  > {
  readonly targetTokens?: number | undefined;
  /** Summarise this message (a uuid, or an index into the conversation) and what follows; keep what came before. */
  readonly from?: MessageRef | undefined;
  /** Summarise what came before this message; keep it and what follows. Not together with `from`. */
  readonly upTo?: MessageRef | undefined;
  readonly keepRecentTokens?: number | undefined;
  /**
   * Compact even if it does not pay, see `SMALLEST_WORTHWHILE_SAVING`. Instructions imply it. Without either, such a
   * compaction fails with `compaction-ineffective`.
   */
  readonly force?: boolean | undefined;
  /**
   * The session's notes in place of a summary, and what they do not know yet is kept: no model is called. Not together
   * with `from`, `upTo` or `keepRecentTokens`. Fails with `notes-not-usable` where they do not serve.
   */
  readonly fromNotes?: SessionNotesSource | undefined;
  /**
   * Puts back files of the project as they are now, to-dos, the plan, and other state in files
   * or the conversation. Default true.
   */
  readonly restoreFiles?: boolean | undefined;
  /**
   * The only folder that files are put back from. Without it: the project folder that the session's place in an
   * agent's store stands for, if `places` is given and the session lies there; else the current folder, unless that is
   * the home folder or above it. The session's own `cwd` never decides.
   */
  readonly project?: string | undefined;
  /**
   * The user's folders: where agents keep sessions and plans, and the current folder. Without it no store and no plan
   * is searched, and the current folder is that of the process.
   */
  readonly places?: UserPlaces | undefined;
  readonly ports?: CompactionPorts;
  /** The conversation of the session as it was sized before. */
  readonly sized?: SizedConversation | undefined;
}

/** Notes as a compaction takes them; see `notesAsSummary`. */
export interface SessionNotesSource {
  /** As they will stand in the conversation. */
  readonly text: string;
  /** The newest message that is in them; without it all but the newest messages count as noted. */
  readonly coveredUuid?: string | undefined;
  readonly keep?: Partial<NotesKeep> | undefined;
}

/** A compaction that has not been written anywhere: to look at, or to hand to {@link writeCompaction}. */
export interface SessionCompaction {
  readonly session: Session;
  readonly plan: CompactionPlan;
  readonly compaction: Compaction;
  /** The folder that files were put back from, and how it was chosen. */
  readonly project: SessionProject;
}

/** Computes what a loaded session becomes, without writing; a model is called only if one is given. */
export async function compactSession(
  session: Session,
  options: CompactSessionOptions = {},
): Promise<SessionCompaction> {
  const {
    from,
    upTo,
    keepRecentTokens,
    fromNotes,
    ports = SYSTEM_PORTS,
    targetTokens,
    sized,
    ...rest
  } = options;
  const plan = planOf(session, options);
  const project = await sessionProject(session, options);
  const compaction = await compact(plan, ports, {
    ...rest,
    leastSaving: options.leastSaving ?? (isForced(options) ? "none" : "worthwhile"),
    ...(targetTokens === undefined ? {} : { targetTokens }),
    source: fromNotes && notesSource({ text: fromNotes.text }),
    transcriptPath: transcriptPathOf(session),
    bindsThinking: bindsThinking(session),
    previousLedger: knownFacts(session),
    sessionRecord: sessionRecord(session),
    state: stateOf(session, project, options),
    hookContext: { sessionId: idForHooks(session), cwd: project.cwd, ...rest.hookContext },
  });
  return { session, plan, compaction, project };
}

function planOf(session: Session, options: CompactSessionOptions): CompactionPlan {
  const { from, upTo, keepRecentTokens, targetTokens, fromNotes, autonomous, instructions, sized } = options;
  const snapshot = { entries: session.conversation, clearedToolUseIds: session.clearedToolUseIds };
  if (fromNotes === undefined) {
    const part = partOf(placeIn(session, from), placeIn(session, upTo));
    const force = isForced(options);
    return planCompaction(snapshot, { keepRecentTokens, targetTokens, force, sized, ...part });
  }
  if (instructions?.trim()) throw notesNotUsable("instructions");
  const { text, keep } = fromNotes;
  const coveredUuid = fromNotes.coveredUuid && coveredIn(session, fromNotes.coveredUuid);
  if (text.trim() === "") throw notesNotUsable("only-template");
  const made = planFromNotes(snapshot, {
    text,
    coveredUuid,
    keep,
    thresholdTokens: targetTokens,
    // `compact` judges the saving, as it does for any other compaction.
    leastSaving: "none",
    transcriptPath: transcriptPathOf(session),
    autonomous,
  });
  if ("declined" in made) throw notesNotUsable(made.declined);
  return made.plan;
}

/** An id of a line that is in the conversation no longer, as the id of the line that says the same there. */
function placeIn<T extends MessageRef | undefined>({ conversation, entries }: Session, ref: T): T | string {
  if (typeof ref !== "string") return ref;
  return conversation[indexInConversation(conversation, entries, ref)]?.uuid ?? ref;
}

/** Scripts build paths of it, and the file may claim anything. */
const idForHooks = ({ id, path }: Session): string => (isSessionId(id) ? id : basename(path, ".jsonl"));

/** The agent and the hooks that read it may be in another folder than we are. */
const transcriptPathOf = (session: Session): string => resolve(session.path);

function stateOf(
  session: Session,
  { folder, cwd, store }: SessionProject,
  { restoreFiles, places, state }: CompactSessionOptions,
): HostState | undefined {
  if (restoreFiles === false) return undefined;
  // A session from elsewhere could name the plan of any other session.
  const plan = store === "claude-code" ? { entries: session.conversation, places } : {};
  return { ...fileState({ folder, cwd, ...plan }), ...state };
}

function partOf(from: MessageRef | undefined, upTo: MessageRef | undefined): PlanOptions {
  if (from !== undefined) return { variant: "from", at: from };
  return upTo === undefined ? {} : { variant: "up-to", at: upTo };
}

const bindsThinking = (session: Session): boolean => findModel(session.model).bindsThinking === true;

/** Writes a compaction whole or not at all. Nothing that stands in the session's file is touched. */
export async function writeCompaction(
  { session, compaction }: SessionCompaction,
  target: WriteTarget,
  ports: CompactionPorts = SYSTEM_PORTS,
): Promise<WrittenLines> {
  const conventions = conventionsOf(session.version);
  const source = {
    inPlace: () => linesInPlace(compaction, conventions, ports),
    asNewSession: (id: string) => linesOfNewSession(compaction, id, conventions, ports),
  };
  return writeLines(session, source, target, ports);
}

/** For each reason what is wrong, and a remedy besides compacting without the notes. */
const NOT_USABLE: Readonly<Record<NotesDecline, readonly [message: string, remedy: string]>> = {
  disabled: ["Notes are switched off for this session.", "Switch them on"],
  "no-file": ["This session has no notes.", "Have them written first"],
  unreadable: ["The session's notes cannot be read.", "Look at the file"],
  "only-template": ["Nothing has been noted in this session's notes.", "Have them written first"],
  "message-not-found": [
    "The newest message that is in the notes is not in the current conversation.",
    "Bring the notes up to date",
  ],
  "nothing-new-noted": [
    "The notes stand for nothing that a compaction could take out: all of it would be kept, or is gone.",
    "If the session is short, just go on with it. Otherwise bring the notes up to date, keep fewer messages",
  ],
  instructions: ["Notes know nothing of instructions that are given now.", "Leave the instructions out"],
  "hook-instructions": ["Notes know nothing of the instructions that a hook gives.", "Take the hook out"],
  "partial-compaction": [
    "Notes stand for the whole conversation, not for a part of it.",
    "Compact the whole conversation",
  ],
  "keep-recent-tokens": [
    "With notes, the newest noted message decides which messages are kept.",
    "Leave out how many tokens to keep",
  ],
  "above-threshold": [
    "With the notes and what they do not hold yet, the next compaction would be due at once.",
    "Bring the notes up to date or shorten them",
  ],
  "does-not-pay": [
    "The notes are nearly as long as the messages that they would replace, so the compaction does not pay.",
    "Shorten the notes",
  ],
};

/** Nothing was changed; the reason says why the notes do not serve. */
export function notesNotUsable(reason: NotesDecline): LonghaulError {
  const [message, remedy] = NOT_USABLE[reason];
  const facts = { reason };
  return new LonghaulError("notes-not-usable", message, {
    remedy: `${remedy}, or compact without the notes.`,
    facts,
  });
}
