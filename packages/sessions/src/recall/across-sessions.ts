import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setImmediate as soon } from "node:timers/promises";
import { type CountText, ESTIMATORS } from "@longhaul/core/measure";
import type { SessionFile } from "../transcript/list-sessions.ts";
import type { UserPlaces } from "../transcript/locations.ts";
import { withSessionFile } from "../transcript/session-file.ts";
import { IndexDamaged } from "./dictionary.ts";
import { STATUS } from "./document-status.ts";
import { FilePool } from "./file-pool.ts";
import { IndexFile, isSameFile } from "./index-file.ts";
import { IndexedSession, PartDamaged, type SessionPart } from "./indexed-session.ts";
import { openIndex, storedIndex } from "./keep-index.ts";
import { recallIndexPath } from "./open-recall.ts";
import type { RecallHit, RecallPage, RecallQuery } from "./query.ts";
import { searchWithPlaces } from "./search.ts";
import { provenFolder, type RecallScope, sessionsIn } from "./session-scope.ts";

export interface SessionsRecallOptions {
  /** Locations of the user's sessions. `cwd` decides which project is the current one. */
  readonly places: UserPlaces;
  /** Sessions to search. Default: the sessions of the current project. */
  readonly scope?: RecallScope | undefined;
  readonly countTokens?: CountText | undefined;
  /** Reports the bytes of new and changed sessions that were read for their indexes. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Session of a hit. Its names come from files, so they are untrusted text. */
export interface RecallSession {
  readonly id: string;
  readonly path: string;
  readonly agent: SessionFile["agent"];
  /** Working directory, or the name of its folder in the store if the session names none. */
  readonly project: string;
  readonly modifiedAt: Date;
}

export interface SessionsRecallHit extends RecallHit {
  readonly session: RecallSession;
  /** Always true: the hit comes from the past, and files may have changed since. */
  readonly isOld: true;
}

export interface SessionsRecallPage extends Omit<RecallPage, "hits"> {
  readonly hits: readonly SessionsRecallHit[];
  /** Number of searched sessions. */
  readonly searched: number;
  /** Number of sessions that were new or changed, so that they were read. */
  readonly read: number;
  /** Sessions that could not be searched. */
  readonly skipped: readonly SkippedSession[];
}

export interface SkippedSession {
  readonly path: string;
  readonly reason: string;
}

/** Attempts after a damaged index. Other processes may replace indexes during a search. */
const MAX_ATTEMPTS = 3;

/**
 * Searches many sessions at once. Ranks all passages together, as if all sessions were one. Reads only the
 * indexes of sessions that did not change, and the lines of possible hits.
 */
export function recallAcrossSessions(
  query: RecallQuery,
  options: SessionsRecallOptions,
): Promise<SessionsRecallPage> {
  return searchSessions(query, options, withSessionFile);
}

/** @param openFile opens a session to update its index. Tests count what it reads. */
export async function searchSessions(
  query: RecallQuery,
  options: SessionsRecallOptions,
  openFile: typeof withSessionFile,
): Promise<SessionsRecallPage> {
  const { places, scope = "project", countTokens = ESTIMATORS.classic } = options;
  const { files, includes } = await sessionsIn(scope, places);
  const rebuilt = new Set<string>();
  const skipped = new Map<string, string>();
  for (let attempt = 1; ; attempt++) {
    const pool = new FilePool();
    const usable = files.filter(({ path }) => !skipped.has(path));
    const opened = await openAll(usable, { pool, rebuilt, openFile, ...options, signal: query.signal });
    for (const { path, reason } of opened.skipped) skipped.set(path, reason);
    // Numbers documents from the oldest session to the newest.
    const sessions = opened.sessions.filter(({ file, folders }) => includes(file, folders)).reverse();
    try {
      const indexed = new IndexedSession(...sessions.map((session) => outsideContext(session.part)));
      const { hits, ...page } = await searchWithPlaces(indexed, query, countTokens);
      return {
        ...page,
        hits: hits.map(({ hit, document }) => {
          const found = sessions[indexed.partOf(document)] as OpenedSession;
          return { ...hit, session: describe(found), isOld: true };
        }),
        searched: sessions.length,
        read: opened.read,
        skipped: [...skipped].map(([path, reason]) => ({ path, reason })),
      };
    } catch (error) {
      if (!(error instanceof IndexDamaged)) throw error;
      for (const path of damagedPaths(sessions, error)) {
        if (rebuilt.has(path) || attempt === MAX_ATTEMPTS)
          skipped.set(path, "It changes while longhaul reads it.");
        rebuilt.add(path);
      }
    } finally {
      for (const { close } of opened.sessions) close();
      pool.close();
    }
  }
}

interface OpenedSession {
  readonly file: SessionFile;
  readonly folders: readonly string[];
  readonly part: SessionPart;
  /** Verifies the stored index, if there is one. */
  verify(): void;
  close(): void;
}

interface Opening extends Pick<SessionsRecallOptions, "onProgress">, Pick<RecallQuery, "signal"> {
  readonly pool: FilePool;
  /** Sessions whose stored index is damaged. Each is rebuilt once. */
  readonly rebuilt: ReadonlySet<string>;
  readonly openFile: typeof withSessionFile;
}

/** Opens the indexes of all sessions. Updates the indexes of those that changed. */
async function openAll(
  files: readonly SessionFile[],
  opening: Opening,
): Promise<{
  readonly sessions: readonly OpenedSession[];
  readonly read: number;
  readonly skipped: readonly SkippedSession[];
}> {
  const { signal, onProgress } = opening;
  const opened = new Map<string, OpenedSession>();
  const skipped: SkippedSession[] = [];
  for (const file of files) {
    signal?.throwIfAborted();
    const session = opening.rebuilt.has(file.path) ? undefined : await unchangedSession(file, opening);
    if (session !== undefined) opened.set(file.path, session);
    // Lets other work run.
    await soon();
  }
  const changed = files.filter(({ path }) => !opened.has(path));
  const total = changed.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const file of changed) {
    signal?.throwIfAborted();
    try {
      const report = (read: number, all: number): void =>
        onProgress?.(done + Math.min(file.bytes, file.bytes - all + read), total);
      opened.set(file.path, await updatedSession(file, opening, report));
    } catch (error) {
      signal?.throwIfAborted();
      // Whatever is wrong with one file, the other sessions can still be searched.
      skipped.push({ path: file.path, reason: error instanceof Error ? error.message : String(error) });
    }
    done += file.bytes;
    onProgress?.(done, total);
  }
  const sessions = files.flatMap(({ path }) => opened.get(path) ?? []);
  return { sessions, read: changed.filter(({ path }) => opened.has(path)).length, skipped };
}

/** Opens the stored index if the session is the same as then. Does not open the session. */
async function unchangedSession(file: SessionFile, { pool }: Opening): Promise<OpenedSession | undefined> {
  const facts = await stat(file.path).catch(() => undefined);
  const index = IndexFile.open(recallIndexPath(file.path), pool);
  if (facts === undefined || index === undefined) return undefined;
  const stored = storedIndex(index);
  const mark = { bytes: facts.size, modifiedMs: facts.mtimeMs, inode: facts.ino };
  if (stored === undefined || !isSameFile(stored.directory.file, mark)) return undefined;
  const { segments, status, folders, directory } = stored;
  return {
    file,
    folders,
    part: { segments, status, read: sessionReader(file.path, pool) },
    verify: () => index.verify(directory),
    close: () => undefined,
  };
}

/** Reads a session only when one of its lines is needed. */
function sessionReader(path: string, pool: FilePool): SessionPart["read"] {
  let file: ReturnType<FilePool["file"]>;
  return (buffer, position) => {
    file ??= pool.file(path, { isLinkAllowed: true });
    return file?.read(buffer, position) ?? 0;
  };
}

/** Updates the index of a session. Uses the index in memory if it cannot be stored. */
async function updatedSession(
  file: SessionFile,
  opening: Opening,
  onProgress: (done: number, total: number) => void,
): Promise<OpenedSession> {
  const { path } = file;
  const opened = await opening.openFile(path, async (open) => {
    const indexPath = recallIndexPath(path) === path ? undefined : recallIndexPath(path);
    const mustRebuild = opening.rebuilt.has(path);
    const index = { indexPath, mustRebuild, onProgress, keepEveryBytes: 0, keepsOpenEnd: true };
    return await openIndex(open, path, index);
  });
  const stored = await unchangedSession(file, opening);
  if (stored !== undefined) {
    opened.close();
    return stored;
  }
  const { segments, status, folders } = opened;
  const part = { segments, status, read: sessionReader(path, opening.pool) };
  return { file, folders, part, verify: () => undefined, close: opened.close };
}

/** Treats all content as old, because it is in the context of no session but its own. */
const outsideContext = (part: SessionPart): SessionPart => ({
  ...part,
  status: part.status.map((flags) => flags & ~STATUS.inContext) as Buffer,
});

/** Returns the sessions whose index is damaged. */
function damagedPaths(sessions: readonly OpenedSession[], error: IndexDamaged): readonly string[] {
  const known = error instanceof PartDamaged ? sessions[error.part] : undefined;
  if (known !== undefined) return [known.file.path];
  return sessions.filter(isDamaged).map(({ file }) => file.path);
}

function isDamaged({ verify }: OpenedSession): boolean {
  try {
    verify();
    return false;
  } catch {
    return true;
  }
}

function describe({ file, folders }: OpenedSession): RecallSession {
  const { id, path, agent, modifiedAt } = file;
  const project = provenFolder(file, folders) ?? folders[0] ?? basename(dirname(path));
  return { id, path, agent, project, modifiedAt };
}
