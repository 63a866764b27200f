import { type FileHandle, open } from "node:fs/promises";
import { LonghaulError } from "@longhaul/core/errors";
import type { Entry } from "@longhaul/core/messages";
import type { Damage } from "./entry-reader.ts";
import { isSystemError, READ_WITHOUT_WAITING, type ReadAt, readerOf } from "./file-bytes.ts";
import { refuseForeignFormat } from "./foreign-format.ts";

export interface OpenSessionFile {
  readonly readAt: ReadAt;
  readonly bytes: number;
  /** For many small reads in a row, each of which is done sooner than it could be waited for. */
  readonly fd: number;
}

/** Opens a session for reading and closes it again, with every way this can fail said in words. */
export async function withSessionFile<T>(
  path: string,
  use: (file: OpenSessionFile) => Promise<T>,
): Promise<T> {
  const handle = await openForReading(path);
  try {
    const stat = await handle.stat();
    if (stat.isDirectory()) throw unreadable(path, "is a folder, not a session file");
    if (!stat.isFile()) throw unreadable(path, "is not a regular file");
    if (stat.size === 0) throw emptyFile(path);
    const readAt = readerOf(handle);
    await refuseForeignFormat(path, readAt, stat.size);
    return await use({ readAt, bytes: stat.size, fd: handle.fd });
  } catch (error) {
    throw isSystemError(error) ? unreadable(path, `cannot be read (${error.code})`, error) : error;
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
      throw new LonghaulError("session-not-found", `There is no file ${path}.`, {
        remedy: "Run `longhaul sessions` to see the sessions there are.",
        facts: { path },
        cause: error,
      });
    }
    if (error.code === "EISDIR") throw unreadable(path, "is a folder, not a session file", error);
    if (error.code === "EACCES") throw unreadable(path, "may not be read by this user", error);
    throw unreadable(path, `cannot be opened (${error.code})`, error);
  }
}

function unreadable(path: string, what: string, cause?: unknown): LonghaulError {
  return new LonghaulError("session-unreadable", `${path} ${what}.`, {
    remedy: "Give the .jsonl file of a session; `longhaul sessions` lists those there are.",
    facts: { path },
    cause,
  });
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

function emptyFile(path: string): LonghaulError {
  return new LonghaulError("session-empty", `${path} is empty.`, {
    remedy: "The agent has not written anything to this session; choose another with `longhaul sessions`.",
    facts: { path },
  });
}
