import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SESSION_FILE_MODE, syncFolderOf } from "./append-file.ts";

export interface WholeFileOptions {
  /** False for what can be made again: nobody waits for the disk then. */
  readonly isLasting?: boolean;
}

/**
 * Writes a file that is there whole or not at all, readable by its owner alone. `giveName` decides what becomes of
 * a file that has the name already: it is called when everything is on the disk under a name of its own, and what
 * it answers is given back. Where it leaves the temporary file alone, nothing has happened.
 */
export async function writeWholeFile<T>(
  path: string,
  parts: Iterable<string | Buffer>,
  giveName: (temporary: string) => Promise<T>,
  { isLasting = true }: WholeFileOptions = {},
): Promise<T> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeParts(temporary, parts, isLasting);
    const answer = await giveName(temporary);
    if (isLasting) await syncFolderOf(path);
    return answer;
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

async function writeParts(path: string, parts: Iterable<string | Buffer>, isLasting: boolean): Promise<void> {
  const handle = await open(path, "wx", SESSION_FILE_MODE);
  try {
    for (const part of parts) await writeFully(handle, typeof part === "string" ? Buffer.from(part) : part);
    if (isLasting) await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeFully(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    written += (await handle.write(bytes, written)).bytesWritten;
  }
}
