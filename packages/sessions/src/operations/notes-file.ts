import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import { field } from "@longhaul/core/internal/messages";
import type { NotesFile } from "@longhaul/notes/internal/format";
import { problemOf } from "../machine/text-file.ts";
import { isSystemError, readerOf, withOpenFile } from "../transcript/file-bytes.ts";
import { lockSession } from "../transcript/lock.ts";
import { giveName, notWritten, writeWholeFile } from "../transcript/whole-file.ts";

/** Ten times what notes within their limits hold, in any script. What is larger is something else. */
const LARGEST_NOTES_BYTES = 1024 * 1024;

/** Where a session's notes are: beside it. */
export function notesPath(sessionPath: string): string {
  return join(dirname(sessionPath), `${basename(sessionPath, ".jsonl")}.notes.md`);
}

/**
 * Notes in a file that only their owner can read. A person and several processes may write to it: a write goes
 * through only if the file is still what was read, and is there whole or not at all. Links are not followed: whoever
 * may lay one down beside a session must not choose what we overwrite.
 */
export function notesFile(path: string): NotesFile {
  return {
    path,
    read: async () => {
      const found = await find(path);
      return found && decoded(found.bytes, path);
    },
    write: async (text, replacing) => {
      try {
        return await replace(path, text, replacing);
      } catch (error) {
        throw notesNotWritten(path, error);
      }
    },
  };
}

async function replace(path: string, text: string, replacing: string | undefined): Promise<boolean> {
  if (Buffer.byteLength(text) > LARGEST_NOTES_BYTES) throw tooLong(path);
  const expected = replacing === undefined ? undefined : Buffer.from(replacing);
  const isAsRead = async (): Promise<boolean> => {
    const found = await find(path);
    // A rename asks only the folder; the file's owner meant it all the same.
    if (found?.isReadOnly) throw systemError("EACCES");
    return isSame(found?.bytes, expected);
  };
  // Looked at before anything is made, so that a wrong place stays as it was.
  if (!(await isAsRead())) return false;
  return writeWholeFile(path, [text], async (temporary) => {
    const release = await lockSession(path);
    try {
      if (expected === undefined) return await takeName(temporary, path);
      // As late as can be: an editor takes no lock of ours.
      if (!(await isAsRead())) return false;
      await rename(temporary, path);
      return true;
    } finally {
      await release();
    }
  });
}

/** False where somebody else has the name by now. */
async function takeName(temporary: string, path: string): Promise<boolean> {
  try {
    await giveName(temporary, path);
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === "EEXIST") return false;
    throw error;
  }
}

/** By bytes: half a character in a text of ours is written as a replacement mark, and would never equal itself. */
function isSame(found: Buffer | undefined, expected: Buffer | undefined): boolean {
  return found === undefined || expected === undefined ? found === expected : found.equals(expected);
}

interface Found {
  readonly bytes: Buffer;
  readonly isReadOnly: boolean;
}

/** Undefined where there is no such file. */
async function find(path: string): Promise<Found | undefined> {
  try {
    // Looked at before it is opened: to open a device can be to set it going.
    refuseOther(path, await lstat(path));
    const read = async (handle: FileHandle): Promise<Found> => {
      const found = await handle.stat();
      refuseOther(path, found);
      // One more than may be: of a file that grows as fast as it is read there is no end.
      const buffer = Buffer.alloc(LARGEST_NOTES_BYTES + 1);
      const length = await readerOf(handle)(buffer, 0);
      if (length > LARGEST_NOTES_BYTES) throw unreadable(path, TOO_LARGE);
      return { bytes: buffer.subarray(0, length), isReadOnly: (found.mode & 0o222) === 0 };
    };
    return await withOpenFile(path, read, constants.O_NOFOLLOW);
  } catch (error) {
    if (error instanceof LonghaulError) throw error;
    if (problemOf(error) === "gone") return undefined;
    const code = String(field(error, "code"));
    throw unreadable(path, WORDS[code] ?? `cannot be read (${code})`, error);
  }
}

const A_LINK = "is a link, and notes are never read or written through one";
const TOO_LARGE = `is larger than ${LARGEST_NOTES_BYTES / 1024 / 1024} MB: those are no notes`;

const WORDS: Readonly<Record<string, string>> = { ELOOP: A_LINK, EACCES: "may not be read by this user" };

function refuseOther(path: string, found: Stats): void {
  if (found.isSymbolicLink()) throw unreadable(path, A_LINK);
  if (found.isDirectory()) throw unreadable(path, "is a folder");
  if (!found.isFile()) throw unreadable(path, "is not a regular file");
  if (found.size > LARGEST_NOTES_BYTES) throw unreadable(path, TOO_LARGE);
}

function decoded(bytes: Buffer, path: string): string {
  if (bytes.includes(0)) throw unreadable(path, "is not a text");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw unreadable(path, "is not UTF-8 text", error);
  }
}

function unreadable(path: string, what: string, cause?: unknown): LonghaulError {
  return new LonghaulError("notes-unreadable", `${path} ${what}.`, {
    remedy: "Nothing was changed. Mend it or move it away; notes can be built anew from the session.",
    facts: { path },
    cause,
  });
}

function tooLong(path: string): LonghaulError {
  return new LonghaulError("notes-not-written", `The new ${path} ${TOO_LARGE}. Nothing was changed.`, {
    facts: { path },
  });
}

function notesNotWritten(path: string, cause: unknown): LonghaulError {
  if (cause instanceof LonghaulError) return cause;
  // Only a folder that is a file is left to say so: a name that was taken is an answer, not an error.
  const isFolderTaken = field(cause, "code") === "EEXIST";
  const { message, facts } = notWritten(path, isFolderTaken ? systemError("ENOTDIR") : cause);
  const remedy = "Solve that and try again; the session itself is not touched.";
  return new LonghaulError("notes-not-written", message, { remedy, facts, cause });
}

const systemError = (code: string): Error => Object.assign(new Error(code), { code });
