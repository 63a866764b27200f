import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { LonghaulError } from "../errors.ts";
import { refuseForeignFormat } from "./foreign-format.ts";
import { emptyFile } from "./session.ts";

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
    if (stat.isDirectory()) {
      throw unreadable(path, "is a folder, not a session file");
    }
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

/** To open a named pipe would otherwise wait for a writer. */
export const READ_WITHOUT_WAITING: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Fills the buffer from that place of the file, as far as the file goes; gives how much that was. */
export type ReadAt = (buffer: Buffer, position: number) => Promise<number>;

export function readerOf(handle: FileHandle): ReadAt {
  return async (buffer, position) => {
    let filled = 0;
    // A single read may give less than was asked for.
    while (filled < buffer.length) {
      const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return filled;
  };
}

/** How much of the end of a file is worth keeping; the conversation mostly is within it. */
const CACHED_TAIL_BYTES = 4 * 1024 * 1024;

/** Keeps what was read of the end: looking for a line and then reading on from it is one trip to the disk. */
export function cachingTail(readAt: ReadAt, bytes: number): ReadAt {
  let tail = Buffer.alloc(0);
  return async (buffer, position) => {
    const tailStart = bytes - tail.length;
    const isJoined = position < tailStart && position + buffer.length >= tailStart;
    if (isJoined && bytes - position <= CACHED_TAIL_BYTES) {
      const above = Buffer.allocUnsafeSlow(tailStart - position);
      const length = await readAt(above, position);
      if (length < above.length) return readAt(buffer, position);
      tail = Buffer.concat([above, tail]);
    }
    if (position < bytes - tail.length) return readAt(buffer, position);
    return tail.copy(buffer, 0, position - (bytes - tail.length));
  };
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

export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && "syscall" in error;
}
