import { randomBytes } from "node:crypto";
import { link, mkdir, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import type { Entry } from "@longhaul/core/messages";
import { isSystemError } from "./file-bytes.ts";

/**
 * Writes a file that is there whole or not at all, readable by its owner alone. `giveName` decides what becomes of
 * a file that has the name already: it is called when everything is on the disk under a name of its own, and what
 * it answers is given back. Where it leaves the temporary file alone, nothing has happened.
 *
 * @param isLasting false for a file that can be made again: then nobody waits for the disk.
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

/** Sessions hold whatever the agent has read: nobody else's business. */
export const SESSION_FILE_MODE = 0o600;

/** A new name is on disk only when its folder is. */
export async function syncFolderOf(path: string): Promise<void> {
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } catch (error) {
    // Some systems cannot sync a folder; there is nothing more to be done on them.
    if (!isSystemError(error) || !["EINVAL", "EPERM", "ENOTSUP", "EISDIR"].includes(error.code)) throw error;
  } finally {
    await folder.close();
  }
}

/** Entries made into text at a time, so that a large session is never in memory twice. */
const ENTRIES_PER_WRITE = 256;

/** Writes a session file that is there whole or not at all, and never in place of another. */
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

/** A link fails where the name is taken; a rename would silently replace what is there. */
export async function giveName(temporary: string, path: string): Promise<void> {
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

/** One line each. JSON.stringify escapes line breaks and half surrogate pairs, so a line is always one line. */
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
  ["EPERM", "the file may not be changed"],
  ["EISDIR", "it is a folder"],
  ["EEXIST", "it exists already, and an existing file is never overwritten"],
  ["ENOTDIR", "its folder is not a folder"],
]);

/** Says in words why a session could not be written, and what state it was left in. */
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
      : "An unfinished line could not be removed; readers skip it and nothing else was changed.";
  return new LonghaulError("session-not-written", `${path} was not written: ${reason}. ${state}`, {
    remedy:
      code === "EEXIST" ? "Choose another name." : "Solve that and try again; the session can still be used.",
    facts: { path, ...(typeof code === "string" ? { system: code } : {}) },
    cause,
  });
}

/** In words, and the system's code. */
export function whyNotWritten(cause: unknown): { readonly code: unknown; readonly reason: string } {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const reason = REASONS.get(code) ?? (cause instanceof Error ? cause.message : "an unknown error occurred");
  return { code, reason };
}
