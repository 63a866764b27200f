import { realpath } from "node:fs/promises";
import { isAbsolute, parse, relative, resolve, sep } from "node:path";
import type { FileAnswer, ProjectFiles, UnavailableReason } from "../restore/files.ts";
import { problemOf, readTextFile } from "./text-file.ts";

/**
 * Files of one project folder. The paths come out of a session file, so they are not trusted: only
 * regular files inside the folder are read, links followed first.
 */
export function projectFiles(folder: string | undefined): ProjectFiles {
  return { read: (path) => readInside(folder, path).catch((error) => unavailable(problemOf(error))) };
}

async function readInside(folder: string | undefined, path: string): Promise<FileAnswer> {
  if (folder === undefined || !isAbsolute(folder) || parse(folder).root === folder) {
    return unavailable("outside-project");
  }
  const root = await realpath(folder);
  const real = await realpath(resolve(root, relativeTo(folder, path)));
  if (!real.startsWith(root + sep)) return unavailable("outside-project");
  const file = await readTextFile(real);
  return file.state === "read" ? { ...file, displayPath: relative(root, real) } : file;
}

/** A path recorded under the folder's unresolved name is looked up under its resolved one. */
function relativeTo(folder: string, path: string): string {
  const inside = relative(folder, resolve(folder, path));
  return inside.startsWith("..") || isAbsolute(inside) ? path : inside;
}

const unavailable = (reason: UnavailableReason): FileAnswer => ({ state: "unavailable", reason });
