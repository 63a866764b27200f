import { type FileHandle, open } from "node:fs/promises";
import { LonghaulError } from "../errors.ts";
import { emptyFile } from "./session.ts";

export interface OpenSessionFile {
  readonly handle: FileHandle;
  readonly bytes: number;
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
    return await use({ handle, bytes: stat.size });
  } catch (error) {
    throw isSystemError(error) ? unreadable(path, `cannot be read (${error.code})`, error) : error;
  } finally {
    await handle.close();
  }
}

/** Fills the buffer as far as the file goes; a single read may give less than was asked for. */
export async function readFully(handle: FileHandle, buffer: Buffer, position: number): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

async function openForReading(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r");
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
