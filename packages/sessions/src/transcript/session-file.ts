import { type FileHandle, open } from "node:fs/promises";
import { LonghaulError } from "@longhaul/core/errors";
import type { Entry } from "@longhaul/core/messages";
import type { Damage } from "./entry-reader.ts";
import { isSystemError, READ_WITHOUT_WAITING, type ReadAt, readerOf } from "./file-bytes.ts";
import { refuseForeignFormat } from "./foreign-format.ts";

export interface OpenSessionFile {
  readonly readAt: ReadAt;
  readonly bytes: number;
  /**
   * File descriptor for many small synchronous reads in a row. Each of these reads takes less time than an
   * await.
   */
  readonly fd: number;
  /** Time of the last change, in milliseconds, and number of the file in its file system. */
  readonly modifiedMs: number;
  readonly inode: number;
}

/** Opens a session for reading and closes it again. Explains every failure in words. */
export async function withSessionFile<T>(
  path: string,
  use: (file: OpenSessionFile) => Promise<T>,
): Promise<T> {
  const handle = await openForReading(path);
  try {
    const stat = await handle.stat();
    if (stat.isDirectory()) throw unreadable(path, "it is a folder");
    if (!stat.isFile()) throw unreadable(path, "it is not a regular file");
    if (stat.size === 0) throw emptyFile(path);
    const readAt = readerOf(handle);
    await refuseForeignFormat(path, readAt, stat.size);
    return await use({
      readAt,
      bytes: stat.size,
      fd: handle.fd,
      modifiedMs: stat.mtimeMs,
      inode: stat.ino,
    });
  } catch (error) {
    throw isSystemError(error) ? unreadable(path, `the system reports ${error.code}`, error) : error;
  } finally {
    await handle.close();
  }
}

async function openForReading(path: string): Promise<FileHandle> {
  try {
    return await open(path, READ_WITHOUT_WAITING);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === "ENOENT" || error.code === "ENOTDIR") {
      throw fileNotFound(path, error);
    }
    if (error.code === "EISDIR") throw unreadable(path, "it is a folder", error);
    if (error.code === "EACCES") throw unreadable(path, "you do not have permission to read it", error);
    throw unreadable(path, `the system cannot open it (${error.code})`, error);
  }
}

export function fileNotFound(path: string, cause: unknown): LonghaulError {
  return new LonghaulError("session-not-found", `No session found: there is no file ${path}.`, {
    remedy: "Check the path, or run `longhaul sessions` to list all sessions.",
    facts: { path },
    cause,
  });
}

function unreadable(path: string, why: string, cause?: unknown): LonghaulError {
  return new LonghaulError("session-unreadable", `Cannot read ${path} as a session: ${why}.`, {
    remedy: PASS_SESSION_FILE,
    facts: { path },
    cause,
  });
}

const PASS_SESSION_FILE =
  "Pass the .jsonl file of a session, or its id. `longhaul sessions` lists all sessions.";

/** Throws if no line of the file is an entry. Call it only for a file without a conversation. */
export function refuseForeignFile(path: string, entries: readonly Entry[], damage: readonly Damage[]): void {
  if (entries.length > 0) return;
  if (damage.length === 0) throw emptyFile(path);
  throw new LonghaulError(
    "session-unreadable",
    `Cannot read ${path} as a session: no line of the file is a session entry.`,
    { remedy: PASS_SESSION_FILE, facts: { path, damagedLines: damage.length } },
  );
}

function emptyFile(path: string): LonghaulError {
  return new LonghaulError("session-empty", `The session file ${path} is empty.`, {
    remedy:
      "The agent has not written to this session yet. Choose another one: `longhaul sessions` lists them.",
    facts: { path },
  });
}
