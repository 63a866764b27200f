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

/**
 * Text input without NUL characters. A file with a NUL character counts as binary, and the diff of a binary
 * file is empty. So the person would allow an unseen change.
 */
export const textInput: z.ZodType<string> = z
  .string()
  .refine((text) => !text.includes("\0"), "contains a NUL character, which a text file cannot contain");

/**
 * Explains why the agent may not change content that it has not seen. Returns undefined if the agent has seen
 * the content.
 */
export function whyUnseen(
  place: FilePlace,
  file: ResolvedPath,
  content: FileContent,
): ToolOutcome | undefined {
  const seen = place.reads.get(file.realPath);
  if (seen === undefined)
    return failure(
      `${file.displayPath} was not changed: you have not read it yet, or its content is no longer in your context. Read it first.`,
      "not read yet",
    );
  return seen.fingerprint === fingerprintOf(content.bytes) ? undefined : changedMeanwhile(file);
}

const changedMeanwhile = ({ displayPath }: ResolvedPath): ToolOutcome =>
  failure(
    `${displayPath} was not changed: its content differs from what you read. ` +
      "The user, a command, or another agent has changed it since then. Read it again, and apply your change to its current content.",
    "changed since it was read",
  );

interface Change {
  readonly file: ResolvedPath;
  /** Old content. Undefined if the file does not exist yet. */
  readonly before: Buffer | undefined;
  readonly after: Buffer;
  /** Lines that the agent knows after the change. */
  readonly range: SeenFile["range"];
}

/**
 * Writes the new content if the file still has the old content, and records that the agent knows the new
 * content.
 */
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
  EACCES: "this user has no permission to write it",
  EPERM: "this user has no permission to write it",
  EROFS: "it is on a read-only disk",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
  ENOTDIR: "a part of its path is a file, not a folder",
  EEXIST: "a part of its path is a file, not a folder",
  EISDIR: "it is a folder",
  ENOENT: "the file or its folder no longer exists",
  ENAMETOOLONG: "its name is too long for the system",
  ETXTBSY: "it is a program that is running now",
};

function whyNotWritten(error: unknown): string {
  const code = systemCode(error);
  return REASONS[code] ?? `writing failed (${code || String(error)})`;
}

type WriteOutcome =
  | { readonly state: "written"; readonly mtimeMs: number }
  /** Result if another process changed, created or removed the file meanwhile. Nothing was written. */
  | { readonly state: "changed" };

/** Permission bits of a mode. The other bits are the file type. */
const MODE_BITS = 0o7777;
/** Usual mode of a new file, before the user's umask. */
const NEW_FILE_MODE = 0o666;

/**
 * Creates a file and its folders. The file appears complete or not at all, and never replaces another file.
 */
export async function createFile(path: string, bytes: Buffer, signal: AbortSignal): Promise<WriteOutcome> {
  await mkdir(dirname(path), { recursive: true });
  return await withTemporary(path, async (temporary) => {
    const handle = await open(temporary, "wx", NEW_FILE_MODE);
    await fill(handle, bytes).finally(() => handle.close());
    signal.throwIfAborted();
    try {
      // Linking fails if a file of this name exists. Renaming would silently replace that file.
      linkSync(temporary, path);
    } catch (error) {
      if (systemCode(error) === "EEXIST") return { state: "changed" };
      if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(systemCode(error))) throw error;
      return writeNew(path, bytes);
    }
    return { state: "written", mtimeMs: (await stat(path)).mtimeMs };
  });
}

/** Creates a file on a disk without hard links. Creates the name first, then writes the content. */
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
 * Replaces the content of a file if it still has the old content. The last check runs as late as possible,
 * and no await follows it. So no other agent of this process can interfere. Another process can interfere
 * only within microseconds. The file keeps its mode and is complete at all times.
 */
export async function replaceFile(
  path: string,
  before: Buffer,
  after: Buffer,
  signal: AbortSignal,
): Promise<WriteOutcome> {
  // A rename checks only the folder's permissions. Respect the permissions of the file too.
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

/** Creates a file that differs from the old one only in its content. Returns true if that succeeded. */
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

/**
 * Writes in place, for files that belong to another user, have several hard links, or are in a folder without
 * write access.
 */
function writeInPlace(path: string, before: Buffer, after: Buffer): WriteOutcome {
  const file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (!holds(file, before)) {
    closeSync(file);
    return { state: "changed" };
  }
  return filled(file, after);
}

/** Writes all bytes and closes the file. */
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

/** Checks whether the path is still a regular file with this content. */
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
  // Without this sync, a power failure can leave the new name without content.
  await handle.sync();
}

/**
 * Creates a temporary file in the folder of `path`, so that it can replace the file at `path` in one step.
 * Always removes the temporary file afterwards.
 */
async function withTemporary<T>(path: string, work: (temporary: string) => Promise<T>): Promise<T> {
  const temporary = join(dirname(path), `.longhaul-${randomBytes(6).toString("hex")}.tmp`);
  try {
    return await work(temporary);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}
