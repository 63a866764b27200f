import { randomBytes } from "node:crypto";
import { type FileHandle, link, mkdir, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Entry } from "../conversation/entry.ts";
import { SESSION_FILE_MODE, syncFolderOf } from "./append-file.ts";
import { linesOf } from "./serialize.ts";
import { isSystemError } from "./session-file.ts";
import { notWritten } from "./write-error.ts";

/** Entries made into text at a time, so that a large session is never in memory twice. */
const ENTRIES_PER_WRITE = 256;

/** Writes a session file that is there whole or not at all, and never in place of another. */
export async function writeNewSession(path: string, entries: readonly Entry[]): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeWhole(temporary, entries);
    await giveName(temporary, path);
    await syncFolderOf(path);
  } catch (error) {
    throw notWritten(path, error);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

async function writeWhole(path: string, entries: readonly Entry[]): Promise<void> {
  const handle = await open(path, "wx", SESSION_FILE_MODE);
  try {
    for (let from = 0; from < entries.length; from += ENTRIES_PER_WRITE) {
      await writeFully(handle, Buffer.from(linesOf(entries.slice(from, from + ENTRIES_PER_WRITE))));
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeFully(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    written += (await handle.write(bytes, written)).bytesWritten;
  }
}

/** A link fails where the name is taken; a rename would silently replace what is there. */
async function giveName(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    if (!isSystemError(error) || !["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(error.code))
      throw error;
    // No links on this disk: take the name first, then replace our own empty file.
    await (await open(path, "wx", SESSION_FILE_MODE)).close();
    await rename(temporary, path);
  }
}
