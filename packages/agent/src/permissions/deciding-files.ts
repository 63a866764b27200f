import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { guardedFile } from "./guarded-files.ts";

/** Folders whose files git and other tools run. */
const FOLDERS = [".git/hooks", ".husky", ".husky/_", ".githooks", ".cargo", ".config"];
/** Files in git's own folder that decide what git runs. */
const FILES = [".git/config", ".git/config.worktree", ".git/info/attributes"];
/** Hidden files that tools write on every run. The fingerprint ignores them. */
const WRITTEN_BY_TOOLS =
  /^\..*(?:cache|coverage|status|history)|^\..*\.(?:swp|log|tmp|lock|pid|sock)$|^\.(?:ds_store|last_run)/i;
/**
 * Maximum size of a file that is identified by its content. A larger file is identified by its size and time.
 */
const MAX_BYTES = 5_000_000;

/**
 * Returns a fingerprint of the files that decide what code commands run in this folder. These files are at
 * the top of the folder, in git's own folder, or in folders of hooks and settings. The fingerprint changes
 * when a tool, a command or a switch of branches changes one of these files.
 */
export async function fingerprintOfCommandFiles(cwd: string): Promise<string> {
  const top = (await namesIn(cwd)).filter(
    (name) => !WRITTEN_BY_TOOLS.test(name) && guardedFile(join(cwd, name), name)?.decidesCommands,
  );
  const inFolders = await Promise.all(
    FOLDERS.map(async (folder) => (await namesIn(join(cwd, folder))).map((name) => `${folder}/${name}`)),
  );
  const paths = [...top, ...FILES, ...inFolders.flat()].sort();
  const marks = await Promise.all(paths.map(async (path) => `${path}\0${await markOf(join(cwd, path))}`));
  return createHash("sha256").update(marks.join("\n")).digest("hex");
}

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);

async function markOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile()) return "none";
  if (found.size > MAX_BYTES) return `${found.size} ${found.mtimeMs}`;
  const bytes = await readFile(path).catch(() => Buffer.from("unreadable"));
  return createHash("sha256").update(bytes).digest("hex");
}
