import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import { field } from "@longhaul/core/internal/messages";
import type { NotesFile } from "@longhaul/notes/internal/format";
import { problemOf } from "../machine/text-file.ts";
import { isSystemError, readerOf, withOpenFile } from "../transcript/file-bytes.ts";
import { lockSession } from "../transcript/lock.ts";
import { giveName, whyNotWritten, writeWholeFile } from "../transcript/whole-file.ts";

/** Maximum size of a notes file. It is ten times the maximum size of generated notes, in any script. */
const LARGEST_NOTES_BYTES = 1024 * 1024;

/** Returns the path of a session's notes, beside the session. */
export function notesPath(sessionPath: string): string {
  return join(dirname(sessionPath), `${basename(sessionPath, ".jsonl")}.notes.md`);
}

/**
 * Opens notes in a file that only their owner can read. A person and several processes may write to the file.
 * For this reason, a write is atomic, and succeeds only if the file has not changed since it was read. Links
 * are not followed. Otherwise somebody who can place a link beside a session could choose the file that we
 * overwrite.
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
    // The owner marked the file as read-only. A rename would ignore this permission.
    if (found?.isReadOnly) throw systemError("EACCES");
    return isSame(found?.bytes, expected);
  };
  // Compares the file before creating anything, so that a wrong location stays unchanged.
  if (!(await isAsRead())) return false;
  return writeWholeFile(path, [text], async (temporary) => {
    const release = await lockSession(path);
    try {
      if (expected === undefined) return await takeName(temporary, path);
      // Compares the file again as late as possible, because an editor does not use our lock.
      if (!(await isAsRead())) return false;
      await rename(temporary, path);
      return true;
    } finally {
      await release();
    }
  });
}

/** Gives the temporary file its final name. Returns false if a file of that name exists by now. */
async function takeName(temporary: string, path: string): Promise<boolean> {
  try {
    await giveName(temporary, path);
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Compares bytes, not texts. A lone surrogate in our text is written as a replacement character, so the texts
 * would never match.
 */
function isSame(found: Buffer | undefined, expected: Buffer | undefined): boolean {
  return found === undefined || expected === undefined ? found === expected : found.equals(expected);
}

interface Found {
  readonly bytes: Buffer;
  readonly isReadOnly: boolean;
}

/** Reads the notes file. Returns undefined if it does not exist. */
async function find(path: string): Promise<Found | undefined> {
  try {
    // Checks the type of the file before opening it, because opening a device can activate it.
    refuseOther(path, await lstat(path));
    const read = async (handle: FileHandle): Promise<Found> => {
      const found = await handle.stat();
      refuseOther(path, found);
      // The buffer has one byte more than allowed. Reading has a limit, because the file may grow as fast as
      // it is read.
      const buffer = Buffer.alloc(LARGEST_NOTES_BYTES + 1);
      const length = await readerOf(handle)(buffer, 0);
      if (length > LARGEST_NOTES_BYTES) throw unreadable(path, `it ${TOO_LARGE}`);
      return { bytes: buffer.subarray(0, length), isReadOnly: (found.mode & 0o222) === 0 };
    };
    return await withOpenFile(path, read, constants.O_NOFOLLOW);
  } catch (error) {
    if (error instanceof LonghaulError) throw error;
    if (problemOf(error) === "gone") return undefined;
    const code = String(field(error, "code"));
    throw unreadable(path, WORDS[code] ?? `the system reports ${code}`, error);
  }
}

const A_LINK = "it is a link, and longhaul never reads or writes notes through a link";
const TOO_LARGE = `is larger than ${LARGEST_NOTES_BYTES / 1024 / 1024} MB, which is too large for notes`;

const WORDS: Readonly<Record<string, string>> = {
  ELOOP: A_LINK,
  EACCES: "you do not have permission to read it",
};

function refuseOther(path: string, found: Stats): void {
  if (found.isSymbolicLink()) throw unreadable(path, A_LINK);
  if (found.isDirectory()) throw unreadable(path, "it is a folder");
  if (!found.isFile()) throw unreadable(path, "it is not a regular file");
  if (found.size > LARGEST_NOTES_BYTES) throw unreadable(path, `it ${TOO_LARGE}`);
}

function decoded(bytes: Buffer, path: string): string {
  if (bytes.includes(0)) throw unreadable(path, "it is not a text file");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw unreadable(path, "it is not UTF-8 text", error);
  }
}

function unreadable(path: string, why: string, cause?: unknown): LonghaulError {
  return new LonghaulError("notes-unreadable", `Cannot read the notes ${path}: ${why}.`, {
    remedy:
      "Nothing was changed. Repair the file or move it away. longhaul can rebuild the notes from the session.",
    facts: { path },
    cause,
  });
}

function tooLong(path: string): LonghaulError {
  return new LonghaulError(
    "notes-not-written",
    `The notes ${path} were not written: the new text ${TOO_LARGE}. Nothing was changed.`,
    { remedy: "Shorten the notes, then try again.", facts: { path } },
  );
}

function notesNotWritten(path: string, cause: unknown): LonghaulError {
  if (cause instanceof LonghaulError) return cause;
  // EEXIST can only mean that a file is at the path of the folder. If the file name itself exists, the write
  // returns false instead of throwing.
  const isFolderTaken = field(cause, "code") === "EEXIST";
  const { code, reason } = whyNotWritten(isFolderTaken ? systemError("ENOTDIR") : cause);
  return new LonghaulError(
    "notes-not-written",
    `The notes ${path} were not written: ${reason}. Nothing was changed.`,
    {
      remedy: "Fix this and try again.",
      facts: { path, ...(typeof code === "string" ? { system: code } : {}) },
      cause,
    },
  );
}

const systemError = (code: string): Error => Object.assign(new Error(code), { code });
