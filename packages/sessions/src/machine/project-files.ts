import type { Dirent } from "node:fs";
import { opendir, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import type { MemoryFilesPort } from "@longhaul/core/memory-files";
import type { FileAnswer, ProjectFiles, UnavailableReason } from "@longhaul/core/restore";
import { isSecretFile } from "./secret-files.ts";
import { problemOf, readTextFile } from "./text-file.ts";

/**
 * Reads files of one project folder. The paths come from a session file and are not trusted. For this reason,
 * links are resolved, and only regular files inside the folder are read. Well-known secrets are never read.
 * @param cwd base of relative paths. Default: the folder itself. `cwd` may be any folder, because each file
 * is checked after its path is resolved.
 */
export function projectFiles(
  folder: string | undefined,
  { cwd = folder }: { readonly cwd?: string | undefined } = {},
): ProjectFiles {
  return {
    read: (path) =>
      readInside(folder, resolve(cwd ?? "", path)).catch((error) => unavailable(problemOf(error))),
  };
}

async function readInside(folder: string | undefined, path: string): Promise<FileAnswer> {
  // Checks the name first. Otherwise the result for a secret file could be `outside-project`, which suggests
  // that another project folder would help.
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

/** Returns a path relative to the folder. A path outside the folder is returned unchanged. */
function relativeTo(folder: string, path: string): string {
  const inside = relative(folder, resolve(folder, path));
  return inside.startsWith("..") || isAbsolute(inside) ? path : inside;
}

/**
 * Checks whether a path is on another machine. To open a path such as `\\\\host\\share`, Windows sends the
 * user's name and password hash to that host.
 */
const isOnOtherMachine = (path: string): boolean => process.platform === "win32" && /^[\\/]{2}/.test(path);

const unavailable = (reason: UnavailableReason): FileAnswer => ({ state: "unavailable", reason });

/**
 * Maximum depth of a folder tree. Projects keep rule files in a few folders by subject. A deeper tree
 * contains something else.
 */
const LIST_DEPTH = 8;
const MAX_LISTED = 1_000;
const MAX_LOOKED_AT = 10_000;

export interface MemoryFilesPortOptions {
  /** Absolute path of the working directory. No link may lead out of it. */
  readonly cwd: string;
  /**
   * The user's home folder, in which imports of `~/…` may be read. Not set by default. With it, a project's
   * memory file could name any file of the user, and the model would get the content of that file. Combine
   * this option with `mayRead`.
   */
  readonly home?: string | undefined;
}

/**
 * Reads memory files: regular text files within the working directory. Always terminates, no matter what the
 * paths contain.
 */
export function memoryFilesPort({ cwd, home }: MemoryFilesPortOptions): MemoryFilesPort {
  const project = projectFiles(cwd);
  const own = projectFiles(home);
  return {
    home,
    // The path decides which folder applies, because a link in the project must not lead to the user's files.
    read: async (path) =>
      home === undefined || isBelow(cwd, path) || !isBelow(home, path)
        ? project.read(path)
        : atHome(await own.read(path)),
    list: (folder) => listBelow(cwd, folder),
  };
}

function isBelow(folder: string, path: string): boolean {
  const inside = relative(folder, resolve(folder, path));
  return inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

const atHome = (answer: FileAnswer): FileAnswer =>
  answer.state === "read" ? { ...answer, displayPath: `~${sep}${answer.displayPath}` } : answer;

/** State of a search: the files found so far, and the work done to find them. */
interface Search {
  readonly root: string;
  readonly files: string[];
  /** Resolved paths of visited folders, because links can form a cycle. */
  readonly folders: Set<string>;
  looked: number;
}

/**
 * Lists files below a folder. Skips unreadable subfolders. If the folder itself exists, it must be readable.
 */
async function listBelow(cwd: string, folder: string): Promise<readonly string[]> {
  if (!isAbsolute(cwd) || !isBelow(cwd, folder)) return [];
  try {
    const root = await realpath(cwd);
    const search: Search = { root, files: [], folders: new Set(), looked: 0 };
    await lookInto(search, resolve(cwd, folder), 0);
    return search.files;
  } catch (error) {
    if (problemOf(error) === "gone") return [];
    throw error;
  }
}

async function lookInto(search: Search, folder: string, depth: number): Promise<void> {
  const real = await realpath(folder);
  if (!real.startsWith(search.root + sep) || search.folders.has(real)) return;
  search.folders.add(real);
  for (const entry of await entriesOf(search, real)) {
    if (search.files.length >= MAX_LISTED) return;
    const path = join(folder, entry.name);
    const kind = await kindOf(search, entry, path);
    if (kind === "file") search.files.push(path);
    else if (kind === "folder" && depth < LIST_DEPTH) {
      await lookInto(search, path, depth + 1).catch(() => undefined);
    }
  }
}

/**
 * Returns the entries of a folder. Sorts them, so that a limit always selects the same entries. Reads them
 * one by one, because a folder may contain millions of entries.
 */
async function entriesOf(search: Search, folder: string): Promise<readonly Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(folder)) {
    if (search.looked >= MAX_LOOKED_AT) break;
    search.looked++;
    entries.push(entry);
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the kind of a link's target, if the target is within the working directory. */
async function kindOf({ root }: Search, entry: Dirent, path: string): Promise<"file" | "folder" | undefined> {
  if (!entry.isSymbolicLink()) return entry.isFile() ? "file" : entry.isDirectory() ? "folder" : undefined;
  try {
    const real = await realpath(path);
    if (!real.startsWith(root + sep)) return undefined;
    const found = await stat(real);
    return found.isFile() ? "file" : found.isDirectory() ? "folder" : undefined;
  } catch {
    return undefined;
  }
}
