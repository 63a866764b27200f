import { link, open, rename } from "node:fs/promises";
import type { Entry } from "../conversation/entry.ts";
import { SESSION_FILE_MODE } from "./append-file.ts";
import { linesOf } from "./serialize.ts";
import { isSystemError } from "./session-file.ts";
import { writeWholeFile } from "./whole-file.ts";
import { notWritten } from "./write-error.ts";

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
