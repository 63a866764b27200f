import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { isAbsolute, parse, relative, resolve, sep } from "node:path";
import type { FileAnswer, ProjectFiles } from "../restore/files.ts";

/** More than any restored head needs; a log of gigabytes must not be read for its first lines. */
const LARGEST_FILE_BYTES = 4 * 1024 * 1024;

/**
 * Files of one project folder. The paths come out of a session file, so they are not trusted: only
 * regular files inside the folder are read, links followed first.
 */
export function projectFiles(folder: string | undefined): ProjectFiles {
  return { read: (path) => readInside(folder, path).catch(() => unavailable("unreadable")) };
}

async function readInside(folder: string | undefined, path: string): Promise<FileAnswer> {
  if (folder === undefined || !isAbsolute(folder) || parse(folder).root === folder) {
    return unavailable("outside-project");
  }
  const root = await realpath(folder).catch(() => undefined);
  if (root === undefined) return unavailable("gone");
  const real = await realpath(resolve(root, relativeTo(folder, path))).catch(() => undefined);
  if (real === undefined) return unavailable("gone");
  if (!real.startsWith(root + sep)) return unavailable("outside-project");
  return readRegularFile(real, relative(root, real));
}

/** A path recorded under the folder's unresolved name is looked up under its resolved one. */
function relativeTo(folder: string, path: string): string {
  const inside = relative(folder, resolve(folder, path));
  return inside.startsWith("..") || isAbsolute(inside) ? path : inside;
}

async function readRegularFile(path: string, displayPath: string): Promise<FileAnswer> {
  // O_NONBLOCK: opening a named pipe would otherwise wait for a writer for ever.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return unavailable("not-text");
    if (stat.size > LARGEST_FILE_BYTES) return unavailable("too-large");
    const bytes = await handle.readFile();
    if (bytes.includes(0)) return unavailable("not-text");
    return { state: "read", text: bytes.toString("utf8"), displayPath };
  } finally {
    await handle.close();
  }
}

const unavailable = (reason: Extract<FileAnswer, { state: "unavailable" }>["reason"]): FileAnswer => ({
  state: "unavailable",
  reason,
});
