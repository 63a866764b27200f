import { randomBytes } from "node:crypto";
import { link, mkdir, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import type { Entry } from "@longhaul/core/messages";
import { isSystemError } from "./file-bytes.ts";

/**
 * Writes a file atomically, readable only by its owner. First writes everything to the disk under a temporary
 * name. Then calls `giveName`, which decides what happens if a file with the final name exists. Returns the
 * result of `giveName`. If `giveName` does not move the temporary file, nothing has changed.
 *
 * @param isLasting false for a file that can be rebuilt. Such a file is written without waiting for the disk.
 */
export async function writeWholeFile<T>(
  path: string,
  parts: Iterable<string | Buffer>,
  giveName: (temporary: string) => Promise<T>,
  isLasting = true,
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
    for (const part of parts) await handle.writeFile(part);
    if (isLasting) await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Mode of session files. They contain everything that the agent has read, so only the owner may read them.
 */
export const SESSION_FILE_MODE = 0o600;

/** Syncs the folder of a file, because a new name is on disk only after that. */
export async function syncFolderOf(path: string): Promise<void> {
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } catch (error) {
    // Some systems cannot sync a folder. There is no alternative, so this error is ignored.
    if (!isSystemError(error) || !["EINVAL", "EPERM", "ENOTSUP", "EISDIR"].includes(error.code)) throw error;
  } finally {
    await folder.close();
  }
}

/** Number of entries serialized at a time, so that a large session is never in memory twice. */
const ENTRIES_PER_WRITE = 256;

/** Writes a session file atomically, and never replaces an existing one. */
export async function writeNewSession(path: string, entries: readonly Entry[]): Promise<void> {
  try {
    await writeWholeFile(path, textsOf(entries), (temporary) => giveName(temporary, path));
  } catch (error) {
    throw notWritten(path, error);
  }
}

function* textsOf(entries: readonly Entry[]): Generator<string> {
  for (let from = 0; from < entries.length; from += ENTRIES_PER_WRITE)
    yield linesOf(entries.slice(from, from + ENTRIES_PER_WRITE));
}

/**
 * Gives a temporary file its final name. Uses a link, because a link fails if the name exists. A rename would
 * silently replace the existing file.
 */
export async function giveName(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    if (!isSystemError(error) || !["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(error.code))
      throw error;
    // This disk has no links: reserve the name with an empty file, then replace that file.
    await (await open(path, "wx", SESSION_FILE_MODE)).close();
    await rename(temporary, path);
  }
}

/**
 * Returns one line per entry. JSON.stringify escapes line breaks and lone surrogates, so an entry is always
 * one line.
 */
export function linesOf(entries: readonly Entry[]): string {
  let lines = "";
  for (const entry of entries) lines += `${JSON.stringify(entry)}\n`;
  return lines;
}

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is used up"],
  ["EFBIG", "the file would become larger than allowed"],
  ["EIO", "the disk reports an error"],
  ["EROFS", "the disk is read-only"],
  ["EACCES", "the file or its folder is read-only for this user"],
  ["EPERM", "the system does not allow changes to the file"],
  ["EISDIR", "it is a folder"],
  ["EEXIST", "it exists already, and longhaul never overwrites an existing file"],
  ["ENOTDIR", "its parent is a file instead of a folder"],
]);

/**
 * Creates the error for a session that could not be written. The error explains the reason and the state of
 * the file.
 */
export function notWritten(
  path: string,
  cause: unknown,
  outcome: "unchanged" | "unfinished line left" = "unchanged",
): LonghaulError {
  if (cause instanceof LonghaulError) return cause;
  const { code, reason } = whyNotWritten(cause);
  const state =
    outcome === "unchanged"
      ? "Nothing was changed."
      : "longhaul could not remove an unfinished line at the end. Readers skip it. Nothing else was changed.";
  return new LonghaulError(
    "session-not-written",
    `The session ${path} was not written: ${reason}. ${state}`,
    {
      remedy:
        code === "EEXIST"
          ? "Choose another file name."
          : "Fix this and try again. You can still use the session.",
      facts: { path, ...(typeof code === "string" ? { system: code } : {}) },
      cause,
    },
  );
}

/** Returns the reason in words why a file could not be written, and the system's error code. */
export function whyNotWritten(cause: unknown): { readonly code: unknown; readonly reason: string } {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const reason = REASONS.get(code) ?? (cause instanceof Error ? cause.message : "an unknown error occurred");
  return { code, reason };
}
