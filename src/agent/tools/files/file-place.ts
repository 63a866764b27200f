import { basename, dirname, resolve } from "node:path";
import type { PermissionNeed } from "../../permission.ts";
import { type FileProblem, fileProblemOf } from "../../workplace/file-contents.ts";
import { isWithin, shortPath } from "../../workplace/paths.ts";
import type { FileContent, ResolvedPath, Workplace } from "../../workplace.ts";
import { similarFiles } from "./similar.ts";

/** What tools for files need of a workplace. */
export type FilePlace = Pick<Workplace, "cwd" | "paths" | "reads" | "files" | "sessionPath" | "resultLimit">;

/** For titles, which cannot wait until links are followed. */
export const pathInTitle = ({ cwd }: FilePlace, path: string): string => shortPath(resolve(cwd, path), [cwd]);

export type CurrentFile =
  | { readonly state: "there"; readonly content: FileContent }
  | { readonly state: "missing" }
  /** In words, as the end of a sentence that begins with its path. */
  | { readonly state: "unusable"; readonly reason: FileProblem; readonly words: string };

export async function currentFile(
  { files }: FilePlace,
  { realPath, problem }: ResolvedPath,
): Promise<CurrentFile> {
  if (problem !== undefined)
    return { state: "unusable", reason: "unreadable", words: `cannot be used: ${problem}.` };
  try {
    return { state: "there", content: await files.read(realPath) };
  } catch (error) {
    const reason = fileProblemOf(error);
    if (reason === undefined || !(error instanceof Error)) throw error;
    if (reason === "missing") return { state: "missing" };
    const words = error.message.replace(`${realPath} `, "");
    return { state: "unusable", reason, words };
  }
}

/** What to say where there is no such file. Names beside it are told only where the agent may look anyway. */
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
  // What cannot be is refused anyway, so nobody is asked.
  if (file.problem !== undefined || file.isInside || (await isOfSession(place, file))) return [];
  const title = `Read ${fullName(file)}, outside the working directory`;
  return [{ kind: "outside-path", title, key: `path:${file.realPath}`, scope: `reading ${file.realPath}` }];
}

/** A key of its own: who allowed to read something has not allowed to change it. */
export async function needsForChange(
  place: FilePlace,
  file: ResolvedPath,
  { verb, detail }: { readonly verb: string; readonly detail: string },
): Promise<readonly PermissionNeed[]> {
  const { realPath, displayPath, problem } = file;
  if (problem !== undefined) return [];
  const key = `write:${realPath}`;
  const guarded = await whyGuarded(place, file);
  // Without a scope: what is done there can run programs later, so each time is looked at by itself.
  if (guarded !== undefined)
    return [{ kind: "outside-path", title: `${verb} ${fullName(file)}, ${guarded}`, detail, key }];
  if (file.isInside) {
    const scope = `changes of ${displayPath}`;
    return [{ kind: "change", title: `${verb} ${displayPath}`, detail, key: `change:${displayPath}`, scope }];
  }
  const title = `${verb} ${fullName(file)}, outside the working directory`;
  return [{ kind: "outside-path", title, detail, key, scope: `changes of ${realPath}` }];
}

/** Where it leads is what counts, not what it is called. */
const fullName = ({ path, realPath }: ResolvedPath): string =>
  path === realPath ? path : `${path} (which is ${realPath})`;

async function whyGuarded(place: FilePlace, file: ResolvedPath): Promise<string | undefined> {
  // In any case: some disks do not tell .GIT from .git.
  const isGit = file.realPath.split(/[\\/]/).some((name) => name.toLowerCase() === ".git");
  if (isGit) return "where git keeps what it runs";
  if (isSettingsOfAgents(file.realPath)) return "whose hooks are programs that agents run";
  return (await isOfSession(place, file)) || (await isBesideSession(place, file))
    ? "where longhaul keeps its sessions"
    : undefined;
}

/** Of longhaul, and of the other agent whose hooks it runs: in the home folder, which may be the working directory. */
const isSettingsOfAgents = (path: string): boolean =>
  /^\.(?:longhaul|claude)$/i.test(basename(dirname(path))) && /^settings\b.*\.json$/i.test(basename(path));

/** A subagent's lies beside the main one, which is guarded from both. */
const mainSession = (sessionPath: string): string =>
  sessionPath.replace(/\.agents[\\/][^\\/]+\.jsonl$/, ".jsonl");

/** The session file, and what is called like it: notes, plan, long results, subagents. */
async function isOfSession({ paths, sessionPath }: FilePlace, { realPath }: ResolvedPath): Promise<boolean> {
  const session = await paths.resolve(mainSession(sessionPath));
  const stem = session.realPath.replace(/\.jsonl$/, "");
  return isWithin(realPath, stem) || realPath.startsWith(`${stem}.`);
}

/**
 * Other sessions, and the settings above them, whose hooks are programs. Not what holds the working directory itself:
 * where the session lies in the middle of the project, that is the person's own order.
 */
async function isBesideSession({ cwd, paths, sessionPath }: FilePlace, file: ResolvedPath): Promise<boolean> {
  const [session, here] = await Promise.all([paths.resolve(sessionPath), paths.resolve(cwd)]);
  const own = [dirname(session.realPath), agentFolderOf(session.realPath)].filter(
    (each) => each !== undefined,
  );
  return own.some((each) => !isWithin(here.realPath, each) && isWithin(file.realPath, each));
}

/** The folder of all projects' sessions is in it, as `sessionPath` of longhaul/node has it; a subagent's lie deeper. */
function agentFolderOf(sessionPath: string): string | undefined {
  const folder = dirname(sessionPath);
  if (folder === sessionPath) return undefined;
  return basename(folder) === "projects" ? dirname(folder) : agentFolderOf(folder);
}
