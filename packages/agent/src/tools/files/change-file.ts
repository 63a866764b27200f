import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  writeSync,
} from "node:fs";
import { access, type FileHandle, mkdir, open, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { failure, type ToolContext, type ToolOutcome } from "../../tool.ts";
import { systemCode } from "../../workplace/file-contents.ts";
import { fingerprintOf } from "../../workplace/seen-files.ts";
import type { FileContent, ResolvedPath, SeenFile } from "../../workplace.ts";
import type { FilePlace } from "./file-place.ts";

/** A file with a NUL counts as binary: its diff is empty, and the person would allow something unseen. */
export const textInput: z.ZodType<string> = z
  .string()
  .refine((text) => !text.includes("\0"), "has a NUL character, which no text file holds");

/** Why the agent may not change this content: it has to know what it changes. Undefined where it does. */
export function notKnown(
  place: FilePlace,
  file: ResolvedPath,
  content: FileContent,
): ToolOutcome | undefined {
  const seen = place.reads.get(file.realPath);
  if (seen === undefined)
    return failure(
      `${file.displayPath} was not changed: you have not read it yet, or its content is no longer before you. Read it first.`,
      "not read yet",
    );
  return seen.fingerprint === fingerprintOf(content.bytes) ? undefined : changedMeanwhile(file);
}

const changedMeanwhile = ({ displayPath }: ResolvedPath): ToolOutcome =>
  failure(
    `${displayPath} was not changed: since you read it somebody else has changed it (the user, a command, another agent). ` +
      "Read it again, and make your change to what stands there now.",
    "changed by somebody else",
  );

interface Change {
  readonly file: ResolvedPath;
  /** Undefined where there is no such file yet. */
  readonly before: Buffer | undefined;
  readonly after: Buffer;
  /** What the agent knows of it from now on. */
  readonly range: SeenFile["range"];
}

/** Makes a change, if the file is still what it was; afterwards the agent knows the new content. */
export async function makeChange(
  place: FilePlace,
  { file, before, after, range }: Change,
  { signal }: ToolContext,
): Promise<ToolOutcome | undefined> {
  signal.throwIfAborted();
  let outcome: WriteOutcome;
  try {
    outcome =
      before === undefined
        ? await createFile(file.realPath, after, signal)
        : await replaceFile(file.realPath, before, after, signal);
  } catch (error) {
    signal.throwIfAborted();
    return failure(`${file.displayPath} was not changed: ${whyNotWritten(error)}.`, "not written");
  }
  if (outcome.state === "changed") return changedMeanwhile(file);
  const { mtimeMs } = outcome;
  place.reads.saw(file.realPath, { fingerprint: fingerprintOf(after), mtimeMs, range, callId: undefined });
  return undefined;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "it may not be written by this user",
  EPERM: "it may not be written by this user",
  EROFS: "it lies on a disk that can only be read",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
  ENOTDIR: "a part of its path is a file, not a folder",
  EEXIST: "a part of its path is a file, not a folder",
  EISDIR: "it is a folder",
  ENOENT: "it is gone, or its folder is",
  ENAMETOOLONG: "its name is longer than the system takes",
  ETXTBSY: "it is a program that runs right now",
};

function whyNotWritten(error: unknown): string {
  const code = systemCode(error);
  return REASONS[code] ?? `writing failed (${code || String(error)})`;
}

type WriteOutcome =
  | { readonly state: "written"; readonly mtimeMs: number }
  /** Somebody else has changed, made or removed it meanwhile; nothing was written. */
  | { readonly state: "changed" };

/** What the bits of a mode are; the rest says what kind of file it is. */
const MODE_BITS = 0o7777;
/** What everybody gives a new file; the user's own mask takes from it. */
const NEW_FILE_MODE = 0o666;

/** Makes a file, with the folders that it needs. It is there whole or not at all, and never in place of another. */
export async function createFile(path: string, bytes: Buffer, signal: AbortSignal): Promise<WriteOutcome> {
  await mkdir(dirname(path), { recursive: true });
  return await withTemporary(path, async (temporary) => {
    const handle = await open(temporary, "wx", NEW_FILE_MODE);
    await fill(handle, bytes).finally(() => handle.close());
    signal.throwIfAborted();
    try {
      // A link fails where the name is taken; a rename would silently replace what is there.
      linkSync(temporary, path);
    } catch (error) {
      if (systemCode(error) === "EEXIST") return { state: "changed" };
      if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(systemCode(error))) throw error;
      return writeNew(path, bytes);
    }
    return { state: "written", mtimeMs: (await stat(path)).mtimeMs };
  });
}

/** On disks without links: the name is taken first, and filled then. */
function writeNew(path: string, bytes: Buffer): WriteOutcome {
  try {
    const file = openSync(path, "wx", NEW_FILE_MODE);
    return filled(file, bytes);
  } catch (error) {
    if (systemCode(error) === "EEXIST") return { state: "changed" };
    throw error;
  }
}

/**
 * Gives a file a new content, if it still has the old one. That is looked at as late as can be: from the last look to
 * the end nothing is waited for, so no other agent of this process comes between, and another process has to hit a
 * moment of microseconds. The file keeps its mode, and is whole at any time.
 */
export async function replaceFile(
  path: string,
  before: Buffer,
  after: Buffer,
  signal: AbortSignal,
): Promise<WriteOutcome> {
  // A rename asks only the folder; the file's owner meant it all the same.
  await access(path, constants.W_OK);
  const old = await stat(path);
  if (old.nlink > 1) return writeInPlace(path, before, after);
  return await withTemporary(path, async (temporary) => {
    const isAlike = await makeAlike(temporary, old, after);
    signal.throwIfAborted();
    if (!isAlike) return writeInPlace(path, before, after);
    if (!isStill(path, before)) return { state: "changed" };
    renameSync(temporary, path);
    return { state: "written", mtimeMs: (await stat(path)).mtimeMs };
  });
}

/** Whether a file could be made that differs from the old one in its content alone. */
async function makeAlike(temporary: string, old: Stats, bytes: Buffer): Promise<boolean> {
  let handle: FileHandle;
  try {
    handle = await open(temporary, "wx", 0o600);
  } catch (error) {
    if (["EACCES", "EPERM", "EROFS"].includes(systemCode(error))) return false;
    throw error;
  }
  try {
    const made = await handle.stat();
    if (made.uid !== old.uid || made.gid !== old.gid) return false;
    await handle.chmod(old.mode & MODE_BITS);
    await fill(handle, bytes);
    return true;
  } finally {
    await handle.close();
  }
}

/** For files of somebody else, with several names, or in a folder that is not ours to write to. */
function writeInPlace(path: string, before: Buffer, after: Buffer): WriteOutcome {
  const file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (!holds(file, before)) {
    closeSync(file);
    return { state: "changed" };
  }
  return filled(file, after);
}

/** Writes all of it, and closes the file. */
function filled(file: number, bytes: Buffer): WriteOutcome {
  try {
    for (let written = 0; written < bytes.length; )
      written += writeSync(file, bytes, written, bytes.length - written, written);
    ftruncateSync(file, bytes.length);
    fsyncSync(file);
    return { state: "written", mtimeMs: fstatSync(file).mtimeMs };
  } finally {
    closeSync(file);
  }
}

/** Whatever has become of it: something else than a regular file with this content is no longer it. */
function isStill(path: string, bytes: Buffer): boolean {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return holds(file, bytes);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"].includes(systemCode(error))) return false;
    throw error;
  }
}

function holds(file: number, bytes: Buffer): boolean {
  const found = fstatSync(file);
  if (!found.isFile() || found.size !== bytes.length) return false;
  const now = Buffer.alloc(bytes.length);
  let length = 0;
  while (length < now.length) {
    const count = readSync(file, now, length, now.length - length, length);
    if (count === 0) return false;
    length += count;
  }
  return now.equals(bytes);
}

async function fill(handle: FileHandle, bytes: Buffer): Promise<void> {
  await handle.writeFile(bytes);
  // Without it, a machine that loses its power can be left with the new name and no content.
  await handle.sync();
}

/** In the same folder, so that it can take the file's place in one step; gone afterwards, whatever happens. */
async function withTemporary<T>(path: string, work: (temporary: string) => Promise<T>): Promise<T> {
  const temporary = join(dirname(path), `.longhaul-${randomBytes(6).toString("hex")}.tmp`);
  try {
    return await work(temporary);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}
