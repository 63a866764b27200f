import { realpath } from "node:fs/promises";
import { isAbsolute, parse, relative, resolve, sep } from "node:path";
import type { FileAnswer, ProjectFiles, UnavailableReason } from "../restore/files.ts";
import { isSecretFile } from "./secret-files.ts";
import { problemOf, readTextFile } from "./text-file.ts";

export interface ProjectFilesOptions {
  /** The base of relative paths; the folder itself unless given. A path may lead anywhere from it: the result is checked. */
  readonly cwd?: string | undefined;
}

/**
 * Files of one project folder. The paths come out of a session file, so they are not trusted: only
 * regular files inside the folder are read, links followed first, and no well-known secrets.
 */
export function projectFiles(
  folder: string | undefined,
  { cwd = folder }: ProjectFilesOptions = {},
): ProjectFiles {
  return {
    read: (path) =>
      readInside(folder, resolve(cwd ?? "", path)).catch((error) => unavailable(problemOf(error))),
  };
}

async function readInside(folder: string | undefined, path: string): Promise<FileAnswer> {
  // First, and by name alone: the answer must not suggest that another folder would help.
  if (isSecretFile(path)) return unavailable("secret");
  if (folder === undefined || !isAbsolute(folder) || parse(folder).root === folder) {
    return unavailable("outside-project");
  }
  const name = relativeTo(folder, path);
  if (isOnOtherMachine(name)) return unavailable("outside-project");
  const root = await realpath(folder);
  const real = await realpath(resolve(root, name));
  if (!real.startsWith(root + sep)) return unavailable("outside-project");
  if (isSecretFile(real)) return unavailable("secret");
  const file = await readTextFile(real);
  return file.state === "read" ? { ...file, displayPath: relative(root, real) } : file;
}

/** A path recorded under the folder's unresolved name is looked up under its resolved one. */
function relativeTo(folder: string, path: string): string {
  const inside = relative(folder, resolve(folder, path));
  return inside.startsWith("..") || isAbsolute(inside) ? path : inside;
}

/** Windows sends the user's name and password hash to the machine that a path such as `\\\\host\\share` names. */
const isOnOtherMachine = (path: string): boolean => process.platform === "win32" && /^[\\/]{2}/.test(path);

const unavailable = (reason: UnavailableReason): FileAnswer => ({ state: "unavailable", reason });
