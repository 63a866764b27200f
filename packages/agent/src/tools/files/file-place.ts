import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { isSecretFile } from "@longhaul/sessions";
import { z } from "zod";
import type { PermissionNeed } from "../../permission.ts";
import { type GuardedFile, guardedFile } from "../../permissions/guarded-files.ts";
import { type FileProblem, fileProblemOf, systemCode } from "../../workplace/file-contents.ts";
import { isWithin, realPathOf, shortPath } from "../../workplace/path-rules.ts";
import type { FileContent, ResolvedPath, Workplace } from "../../workplace.ts";
import { similarFiles } from "./similar.ts";

/** Parts of the workplace that file tools need. */
export type FilePlace = Pick<Workplace, "cwd" | "paths" | "reads" | "files" | "sessionPath" | "resultLimit">;

export const pathInput: z.ZodType<string> = z
  .string()
  .min(1)
  .describe("Path of the file, absolute or relative to the working directory.");

/** Shortens a path for a title. Titles are synchronous, so this does not resolve links. */
export const pathInTitle = ({ cwd }: FilePlace, path: string): string => shortPath(resolve(cwd, path), [cwd]);

export type CurrentFile =
  | { readonly state: "there"; readonly content: FileContent }
  | { readonly state: "missing" }
  /** `why` is a clause, such as "it is a folder". */
  | { readonly state: "unusable"; readonly reason: FileProblem; readonly why: string };

export async function currentFile(
  { files }: FilePlace,
  { realPath, problem }: ResolvedPath,
): Promise<CurrentFile> {
  if (problem !== undefined) return { state: "unusable", reason: "unreadable", why: problem };
  try {
    return { state: "there", content: await files.read(realPath) };
  } catch (error) {
    const found = fileProblemOf(error);
    if (found === undefined) throw error;
    return found.reason === "missing" ? { state: "missing" } : { state: "unusable", ...found };
  }
}

/**
 * Returns the message for a missing file. Suggests similar names only if the agent may read the folder
 * anyway.
 */
export async function missingWords({ cwd }: FilePlace, file: ResolvedPath): Promise<string> {
  const similar = file.isInside ? await similarFiles(file.path) : [];
  const names = similar.map((path) => shortPath(path, [cwd]));
  const hint =
    names.length === 0
      ? " Glob finds files by parts of their names."
      : ` Did you mean ${names.join(" or ")}?`;
  return `There is no file ${file.displayPath}. The working directory is ${cwd}.${hint}`;
}

export async function needsForReading(place: FilePlace, path: string): Promise<readonly PermissionNeed[]> {
  const file = await place.paths.resolve(path);
  // These two cases need no question. The tool refuses an impossible path anyway, and the agent may read the
  // files of its own session.
  if (file.problem !== undefined || (await isOfSession(place, file))) return [];
  const { realPath } = file;
  if (isSecret(file)) {
    const title = `Read ${fullName(file)}, which may contain credentials`;
    return [{ kind: "secret-file", title, key: `read-secret:${realPath}` }];
  }
  if (file.isInside) return [];
  const title = `Read ${fullName(file)}, ${whereOf(place, file)}`;
  return [{ kind: "outside-path", title, key: `path:${realPath}`, scope: `reading ${realPath}` }];
}

/** Checks whether the path itself, or the file that a link leads to, can contain credentials. */
export const isSecret = ({ path, realPath }: ResolvedPath): boolean =>
  isSecretFile(path) || isSecretFile(realPath);

/**
 * Returns the permissions for a change. Their key differs from the key for reading, because a permission to
 * read is no permission to write.
 */
export async function needsForChange(
  place: FilePlace,
  file: ResolvedPath,
  { verb, detail }: { readonly verb: string; readonly detail: string },
): Promise<readonly PermissionNeed[]> {
  const { realPath, displayPath, problem } = file;
  if (problem !== undefined) return [];
  const guarded = await whyGuarded(place, file);
  if (guarded !== undefined) {
    const { why, decidesCommands } = guarded;
    const title = `${verb} ${fullName(file)}, ${why}`;
    return [{ kind: "guarded-file", title, detail, key: `write-guarded:${realPath}`, decidesCommands }];
  }
  if (file.isInside) {
    const title = `${verb} ${file.path === realPath ? displayPath : fullName(file)}`;
    const scope = "edits to ordinary files in the working folder";
    return [{ kind: "change", title, detail, key: `change:${displayPath}`, scope }];
  }
  const title = `${verb} ${fullName(file)}, ${whereOf(place, file)}`;
  const key = `write:${realPath}`;
  return [{ kind: "outside-path", title, detail, key, scope: `changes to ${realPath}` }];
}

/**
 * Describes where a file is. If the working folder is too wide, such as the home folder, no file counts as
 * inside.
 */
const whereOf = ({ cwd }: FilePlace, { realPath }: ResolvedPath): string =>
  isWithin(realPath, cwd) ? "in a folder where every access needs permission" : "outside the working folder";

/** Returns the requested path, and the real path if it differs. */
const fullName = ({ path, realPath }: ResolvedPath): string =>
  path === realPath ? path : `${path} (which is ${realPath})`;

async function whyGuarded(place: FilePlace, file: ResolvedPath): Promise<GuardedFile | undefined> {
  const inProject = (path: string): string | undefined =>
    isWithin(path, place.cwd) ? relative(place.cwd, path) : undefined;
  for (const path of [file.path, file.realPath]) {
    const byName = guardedFile(path, inProject(path));
    if (byName !== undefined) return byName;
  }
  const byLink = await guardedLinkTo(place, file.realPath);
  if (byLink !== undefined) return byLink;
  if (await isInGitFolder(file.realPath))
    return { why: "which is in a folder that git treats as a repository", decidesCommands: true };
  if (await hasSeveralNames(file.realPath))
    return {
      why: "which has hard links, so the change also affects other paths",
      decidesCommands: true,
    };
  return (await isOfSession(place, file)) || (await isBesideSession(place, file))
    ? { why: "which belongs to longhaul's sessions or settings", decidesCommands: false }
    : undefined;
}

/** Folders to search for links with guarded names, in addition to the file's own folder. */
const FOLDERS_WITH_LINKS = [
  ...["", ".git", ".git/hooks", ".vscode", ".github", ".github/workflows", ".husky", ".husky/_", ".cargo"],
  ...[".claude", ".claude/skills", ".claude/commands", ".claude/hooks", ".claude/agents"],
];

/** Finds a link in the project that has a guarded name and leads to this file. */
async function guardedLinkTo({ cwd }: FilePlace, realPath: string): Promise<GuardedFile | undefined> {
  const folders = [...FOLDERS_WITH_LINKS.map((name) => join(cwd, name)), dirname(realPath)];
  for (const folder of folders) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.filter((each) => each.isSymbolicLink())) {
      const path = join(folder, entry.name);
      const guarded = guardedFile(path, relative(cwd, path));
      const target = guarded && (await realPathOf(path).catch(() => undefined));
      if (target !== undefined && isWithin(realPath, target)) return guarded;
    }
  }
  return undefined;
}

/**
 * Returns true if the path is below a folder that git treats as a repository. This is any folder with `HEAD`
 * and one of the other names below. A file named `HEAD` is already guarded by its name.
 */
async function isInGitFolder(path: string): Promise<boolean> {
  for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder)) {
    if (await isThere(join(folder, "HEAD"))) {
      const marks = await Promise.all(
        ["objects", "refs", "commondir"].map((name) => isThere(join(folder, name))),
      );
      if (marks.some(Boolean)) return true;
    }
  }
  return false;
}

/** Returns false only if the system says that the file does not exist. An unreadable file may exist. */
export const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    (error: unknown) => !["ENOENT", "ENOTDIR"].includes(systemCode(error)),
  );

/**
 * Detects a file with several hard links. Its other names may be anywhere, and can be startup files of the
 * shell.
 */
const hasSeveralNames = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isFile() && found.nlink > 1,
    () => false,
  );

/**
 * Returns the path of the main session. The session of a subagent is stored next to the main session, and for
 * it this returns the main session too. So the same files are guarded for the main agent and its subagents.
 */
const mainSession = (sessionPath: string): string =>
  sessionPath.replace(/\.agents[\\/][^\\/]+\.jsonl$/, ".jsonl");

/** Checks if a file belongs to the session: the session file, its notes, plan, long results and subagents. */
async function isOfSession({ paths, sessionPath }: FilePlace, { realPath }: ResolvedPath): Promise<boolean> {
  const session = await paths.resolve(mainSession(sessionPath));
  const stem = session.realPath.replace(/\.jsonl$/, "");
  return isWithin(realPath, stem) || realPath.startsWith(`${stem}.`);
}

/**
 * Checks if a file belongs to other sessions or to the settings in the folder above them. Hooks in these
 * settings run programs. If such a folder contains the working directory, it does not count, because the user
 * chose to work inside it.
 */
async function isBesideSession({ cwd, paths, sessionPath }: FilePlace, file: ResolvedPath): Promise<boolean> {
  const [session, here] = await Promise.all([paths.resolve(sessionPath), paths.resolve(cwd)]);
  const own = [dirname(session.realPath), agentFolderOf(session.realPath)].filter(
    (each) => each !== undefined,
  );
  return own.some((each) => !isWithin(here.realPath, each) && isWithin(file.realPath, each));
}

/**
 * Finds the agent's folder, which contains the `projects` folder of all sessions. Sessions of subagents are
 * in deeper folders.
 */
function agentFolderOf(sessionPath: string): string | undefined {
  const folder = dirname(sessionPath);
  if (folder === sessionPath) return undefined;
  return basename(folder) === "projects" ? dirname(folder) : agentFolderOf(folder);
}
