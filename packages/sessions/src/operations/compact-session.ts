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
  /**
   * First message to summarize: a uuid, or an index into the conversation. This message and everything after
   * it are summarized. The messages before it are kept.
   */
  readonly from?: MessageRef | undefined;
  /**
   * Summarize everything before this message. Keep it and the messages after it. Cannot be combined with
   * `from`.
   */
  readonly upTo?: MessageRef | undefined;
  readonly keepRecentTokens?: number | undefined;
  /**
   * True to compact even if the saving is below `SMALLEST_WORTHWHILE_SAVING`. Without `force`, such a
   * compaction fails with `compaction-ineffective`. If instructions are given, `force` is implied.
   */
  readonly force?: boolean | undefined;
  /**
   * Use the session's notes instead of a summary. Messages that the notes do not cover are kept. Calls no
   * model. Cannot be combined with `from`, `upTo` or `keepRecentTokens`. Fails with `notes-not-usable` if the
   * notes are not usable.
   */
  readonly fromNotes?: SessionNotesSource | undefined;
  /**
   * Restore current project files, to-dos, the plan, and other state from files or the conversation. Default:
   * true.
   */
  readonly restoreFiles?: boolean | undefined;
  /**
   * The only folder from which files are restored. If `places` is given and the session is in an agent's
   * store, the default is the project folder for that location. Otherwise the default is the current folder,
   * unless it is the home folder or a parent of it. The session's own `cwd` never determines this folder.
   */
  readonly project?: string | undefined;
  /**
   * The user's folders: locations of sessions and plans, and the current folder. Without `places`, no store
   * and no plan is searched. In that case, the current folder is that of the process.
   */
  readonly places?: UserPlaces | undefined;
  readonly ports?: CompactionPorts;
  /** Sized conversation of the session, if the caller has already sized it. */
  readonly sized?: SizedConversation | undefined;
}

/** Notes for a compaction, see `notesAsSummary`. */
export interface SessionNotesSource {
  /** Text as it will appear in the conversation. */
  readonly text: string;
  /** Newest message that the notes cover. Without it, all but the newest messages count as noted. */
  readonly coveredUuid?: string | undefined;
  readonly keep?: Partial<NotesKeep> | undefined;
}

/** Compaction that has not been written yet. Inspect it, or pass it to {@link writeCompaction}. */
export interface SessionCompaction {
  readonly session: Session;
  readonly plan: CompactionPlan;
  readonly compaction: Compaction;
  /** Folder from which files were restored, and how it was chosen. */
  readonly project: SessionProject;
}

/** Computes the compaction of a loaded session without writing. Calls a model only if one is given. */
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
    // No minimum saving is set here, because `compact` checks the saving of a compaction from notes too.
    leastSaving: "none",
    transcriptPath: transcriptPathOf(session),
    autonomous,
  });
  if ("declined" in made) throw notesNotUsable(made.declined);
  return made.plan;
}

/**
 * Returns the id of a line in the conversation. If the given line is no longer in the conversation, returns
 * the id of the line that replaces it.
 */
function placeIn<T extends MessageRef | undefined>({ conversation, entries }: Session, ref: T): T | string {
  if (typeof ref !== "string") return ref;
  return conversation[indexInConversation(conversation, entries, ref)]?.uuid ?? ref;
}

/**
 * Returns a session id that is safe for hooks. The id in a session file is not trusted, because hook scripts
 * build paths from it.
 */
const idForHooks = ({ id, path }: Session): string => (isSessionId(id) ? id : basename(path, ".jsonl"));

/**
 * Returns the absolute path of the transcript. The path is absolute, because the agent and the hooks that
 * read the file may run in another folder.
 */
const transcriptPathOf = (session: Session): string => resolve(session.path);

function stateOf(
  session: Session,
  { folder, cwd, store }: SessionProject,
  { restoreFiles, places, state }: CompactSessionOptions,
): HostState | undefined {
  if (restoreFiles === false) return undefined;
  // The plan is read only for a session in Claude Code's store. A session from elsewhere could name the plan
  // of any other session.
  const plan = store === "claude-code" ? { entries: session.conversation, places } : {};
  return { ...fileState({ folder, cwd, ...plan }), ...state };
}

function partOf(from: MessageRef | undefined, upTo: MessageRef | undefined): PlanOptions {
  if (from !== undefined) return { variant: "from", at: from };
  return upTo === undefined ? {} : { variant: "up-to", at: upTo };
}

const bindsThinking = (session: Session): boolean => findModel(session.model).bindsThinking === true;

/** Writes a compaction atomically. Does not change existing lines of the session file. */
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

/**
 * Texts about notes that are not usable. The key is the reason. The value is the problem, and a remedy other
 * than compacting without the notes.
 */
const NOT_USABLE: Readonly<Record<NotesDecline, readonly [why: string, remedy: string]>> = {
  disabled: ["notes are switched off for this session", "Switch them on"],
  "no-file": ["this session has no notes", "Write them first"],
  unreadable: ["longhaul cannot read the notes of this session", "Check the file"],
  "only-template": ["the notes of this session contain only the template", "Write them first"],
  "message-not-found": [
    "the newest message that the notes cover is not in the current conversation",
    "Update the notes",
  ],
  "nothing-new-noted": [
    "the notes cover no message that a compaction could remove. All covered messages would stay, or are no longer in the conversation",
    "If the session is short, continue without a compaction. Otherwise update the notes, keep fewer messages",
  ],
  instructions: [
    "longhaul wrote the notes before you gave these instructions, so the notes do not follow them",
    "Leave the instructions out",
  ],
  "hook-instructions": [
    "longhaul wrote the notes before the hook gave its instructions, so the notes do not follow them",
    "Remove the hook",
  ],
  "partial-compaction": [
    "notes cover the whole conversation and not a part of it",
    "Compact the whole conversation",
  ],
  "keep-recent-tokens": [
    "with notes, the newest message that they cover decides which messages stay",
    "Leave out the number of tokens to keep",
  ],
  "above-threshold": [
    "with the notes and the messages that they do not cover yet, the next compaction would be due at once",
    "Update the notes or shorten them",
  ],
  "does-not-pay": [
    "the notes are nearly as long as the messages that they would replace, so the compaction does not pay",
    "Shorten the notes",
  ],
};

/** Creates the error that says why the notes are not usable. Nothing has changed. */
export function notesNotUsable(reason: NotesDecline): LonghaulError {
  const [why, remedy] = NOT_USABLE[reason];
  return new LonghaulError("notes-not-usable", `Cannot compact from the notes: ${why}.`, {
    remedy: `${remedy}, or compact without the notes.`,
    facts: { reason },
  });
}
