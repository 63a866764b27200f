import { basename } from "node:path";
import { keptMessagesBelow } from "../conversation/copies.ts";
import { type CompactBoundaryEntry, type Entry, isCompactBoundary } from "../conversation/entry.ts";
import { recordedModel, respondingModel } from "../conversation/reported-usage.ts";
import { stringField } from "../conversation/untrusted.ts";
import { LonghaulError } from "../errors.ts";
import type { Damage } from "./damage.ts";
import type { Conversation } from "./relink.ts";

interface SessionFacts {
  readonly id: string;
  readonly path: string;
  /** Size of the file when it was read; what {@link openTranscript} can be told to expect. */
  readonly bytes: number;
  /** What the agent has in its context now, oldest first. */
  readonly conversation: readonly Entry[];
  /** What the next entry is to hang on; undefined when there is no conversation. */
  readonly leafUuid: string | undefined;
  /** Results in the conversation that the agent has emptied in its memory, though not on disk. */
  readonly clearedToolUseIds: ReadonlySet<string>;
  /** Entries of the conversation whose parent is in no line; taken to follow the line above them. */
  readonly bridgedUuids: readonly string[];
  readonly damage: readonly Damage[];
  /** As the newest entries have them. */
  readonly cwd: string | undefined;
  readonly version: string | undefined;
  readonly gitBranch: string | undefined;
  readonly model: string | undefined;
}

/** A session file, read whole. */
export interface Session extends SessionFacts {
  /** Everything in the file, in its order, kinds we do not know included. */
  readonly entries: readonly Entry[];
  /** The same with the earlier lines of entries that a later line repeats, for example to change them. */
  readonly lines?: readonly Entry[];
  /** All compactions in the file, also those on branches that were left. */
  readonly boundaries: readonly SessionBoundary[];
}

export interface SessionBoundary {
  readonly boundary: CompactBoundaryEntry;
  /** Index in the session's entries. */
  readonly index: number;
  /** Whether the conversation starts at it. */
  readonly isCurrent: boolean;
}

/** A session file, read from its end as far as the conversation reaches. */
export interface ResumedSession extends SessionFacts {
  readonly boundary: CompactBoundaryEntry | undefined;
  /** How much of the file had to be read. */
  readonly bytesRead: number;
}

export function sessionFacts(
  path: string,
  bytes: number,
  entries: readonly Entry[],
  conversation: Conversation,
): Omit<SessionFacts, "damage"> {
  const newest = conversation.entries.length > 0 ? conversation.entries : entries;
  const latest = latestFields(newest);
  const model = modelIn(newest, true) ?? modelIn(entries, isOfSubagent(conversation.entries));
  return {
    id: latest.sessionId ?? basename(path, ".jsonl"),
    path,
    bytes,
    conversation: conversation.entries,
    leafUuid: conversation.leafUuid,
    clearedToolUseIds: conversation.clearedToolUseIds,
    bridgedUuids: conversation.bridgedUuids,
    cwd: latest.cwd,
    version: latest.version,
    gitBranch: latest.gitBranch,
    model,
  };
}

/**
 * The model of a session, by the newest response in these lines or by the record of a boundary. Messages that a
 * compaction kept are older than its record. Subagents may use another model than the session.
 */
export function modelIn(entries: readonly Entry[], isSubagent: boolean): string | undefined {
  const kept = keptMessagesBelow(entries);
  let ofKept: string | undefined;
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry === undefined || (entry.isSidechain === true && !isSubagent)) continue;
    const recorded = recordedModel(entry);
    if (recorded !== undefined) return recorded;
    const model = respondingModel(entry);
    if (model !== undefined && !kept.has(entry)) return ofKept ?? model;
    ofKept ??= model;
  }
  return ofKept;
}

/** A subagent's own file has nothing but sidechain entries. */
export const isOfSubagent = (conversation: readonly Entry[]): boolean =>
  conversation.some(({ isSidechain }) => isSidechain === true);

export function boundariesOf(
  entries: readonly Entry[],
  current: CompactBoundaryEntry | undefined,
): SessionBoundary[] {
  const found: SessionBoundary[] = [];
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index];
    if (entry?.type !== "system" || !isCompactBoundary(entry)) continue;
    found.push({ boundary: entry, index, isCurrent: entry === current });
  }
  return found;
}

/** Called when no entry takes part in a conversation: refuses a file that holds no entry at all. */
export function refuseForeignFile(path: string, entries: readonly Entry[], damage: readonly Damage[]): void {
  if (entries.length > 0) return;
  if (damage.length === 0) throw emptyFile(path);
  throw new LonghaulError("session-unreadable", `${path} is not a session: none of its lines is an entry.`, {
    remedy: "Give the .jsonl file of a session; `longhaul sessions` lists those there are.",
    facts: { path, damagedLines: damage.length },
  });
}

export function emptyFile(path: string): LonghaulError {
  return new LonghaulError("session-empty", `${path} is empty.`, {
    remedy: "The agent has not written anything to this session; choose another with `longhaul sessions`.",
    facts: { path },
  });
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type LatestFields = Pick<SessionFacts, "cwd" | "version" | "gitBranch"> & {
  readonly sessionId: string | undefined;
};

/** A session may move to another folder, branch or version on the way; the newest counts. */
function latestFields(entries: readonly Entry[]): LatestFields {
  const found: Mutable<LatestFields> = {
    cwd: undefined,
    version: undefined,
    gitBranch: undefined,
    sessionId: undefined,
  };
  let hasResponse = false;
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry === undefined) continue;
    found.cwd ??= stringField(entry, "cwd");
    found.version ??= stringField(entry, "version");
    found.gitBranch ??= stringField(entry, "gitBranch");
    found.sessionId ??= stringField(entry, "sessionId");
    hasResponse ||= respondingModel(entry) !== undefined;
    if (hasResponse && found.cwd !== undefined && found.sessionId !== undefined) break;
  }
  return found;
}
