import { opendir, realpath, stat } from "node:fs/promises";
import { homedir, userInfo } from "node:os";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import { stringField } from "@longhaul/core/internal/messages";
import type { Session } from "../transcript/load.ts";
import {
  LONGEST_FOLDER_NAME,
  projectFolderName,
  projectsFolder,
  type SessionAgent,
  type UserPlaces,
} from "../transcript/locations.ts";

/**
 * Folder from which a session may restore files. A session file is untrusted, so nothing that the file claims
 * can widen this folder.
 */
export interface SessionProject {
  /** Files outside this folder are never restored. If undefined, no file is restored. */
  readonly folder: string | undefined;
  /** The `project` option, the session's location in an agent's store, or the user's current folder. */
  readonly source: ProjectSource;
  /** Reason why there is no folder. */
  readonly problem: ProjectProblem | undefined;
  /**
   * Working directory of hooks, and base of relative paths. If the session's own working directory is inside
   * `folder`, it is used. Otherwise `folder` is used. If `folder` is undefined, the user's current folder is
   * used.
   */
  readonly cwd: string;
  readonly store: SessionAgent | undefined;
}

export type ProjectSource = "option" | "store" | "current-folder";

/**
 * Reason why there is no project folder. `too-wide`: the folder would be the home folder or one of its
 * parents. `not-found`: no folder matches the session's location in the store. `ambiguous`: several folders
 * match it.
 */
export type ProjectProblem = "too-wide" | "not-found" | "ambiguous";

export interface SessionProjectOptions {
  /** Existing folder that the user has chosen. It may be the home folder, but not a whole disk. */
  readonly project?: string | undefined;
  /**
   * Folders of the user. Without `places`, no store is searched. In that case, the current folder is that of
   * the process.
   */
  readonly places?: UserPlaces | undefined;
}

type LocatedSession = Pick<Session, "path" | "cwd" | "entries">;

/**
 * Determines the project in this order: the `project` option, the session's location in an agent's store, the
 * current folder.
 */
export async function sessionProject(
  session: LocatedSession,
  { project, places }: SessionProjectOptions = {},
): Promise<SessionProject> {
  const current = places?.cwd ?? process.cwd();
  const place = places && (await placeInStore(session.path, places));
  const store = place?.agent;
  if (project !== undefined) {
    const folder = await requireFolder(project);
    return { folder, source: "option", problem: undefined, cwd: await cwdIn(folder, session.cwd), store };
  }
  const source = place === undefined ? "current-folder" : "store";
  const found = place === undefined ? { folder: current } : await folderOf(place, session, current);
  const isRefused = "folder" in found && (await isTooWide(found.folder, places?.home));
  if (isRefused || "problem" in found) {
    const problem = "problem" in found ? found.problem : "too-wide";
    return { folder: undefined, source, problem, cwd: current, store };
  }
  const { folder } = found;
  return { folder, source, problem: undefined, cwd: await cwdIn(folder, session.cwd), store };
}

/**
 * Checks whether a folder is a whole disk, the home folder or a parent of it. Such a folder contains too many
 * files to restore from it without asking.
 */
export async function isTooWide(folder: string, home: string = userHome()): Promise<boolean> {
  const real = await realOrResolved(folder);
  if (real === parse(real).root) return true;
  // Checks both home folders. The environment variable may be empty or wrong, but the system knows the home
  // folder without it.
  const homes = await Promise.all([home, systemHome()].filter(isAbsolute).map(realOrResolved));
  return homes.some((each) => isWithin(real, each));
}

/**
 * Returns the user's home folder. Ignores the variable if it is empty or relative. Otherwise a project folder
 * would become the home folder.
 */
export function userHome(): string {
  const home = homedir();
  return isAbsolute(home) ? home : systemHome();
}

function systemHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return "";
  }
}

async function requireFolder(project: string): Promise<string> {
  const folder = resolve(project);
  const isUsable = (await isFolder(folder)) && (await realpath(folder)) !== parse(folder).root;
  if (project !== "" && isUsable) return folder;
  throw new LonghaulError(
    "option-invalid",
    `Invalid value for project: it must be an existing folder and not a whole disk, but is ${JSON.stringify(project)}.`,
    {
      remedy: "Pass the folder of the project, or leave the option out.",
      facts: { option: "project" },
    },
  );
}

/**
 * If the claimed folder is inside the project folder, returns the claimed folder. Otherwise returns the
 * project folder. The result starts with the path of the project folder as it is written, so that links in
 * the claimed path do not matter.
 */
async function cwdIn(folder: string, claimed: string | undefined): Promise<string> {
  if (claimed === undefined || !isAbsolute(claimed) || !(await isFolder(claimed))) return folder;
  const [root, real] = [await realOrResolved(folder), await realOrResolved(claimed)];
  return isWithin(root, real) ? join(folder, relative(root, real)) : folder;
}

interface StorePlace {
  readonly agent: SessionAgent;
  /** Name that the agent gave to the folder with a project's sessions. */
  readonly name: string;
}

const AGENTS: readonly SessionAgent[] = ["claude-code", "longhaul"];

/**
 * Finds the location of a session in a store. Resolves links first, because a link in the store is not a
 * session of the store.
 */
async function placeInStore(path: string, places: UserPlaces): Promise<StorePlace | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return undefined;
  for (const agent of AGENTS) {
    const store = await realpath(projectsFolder(agent, places)).catch(() => undefined);
    if (store === undefined || !isWithin(store, real)) continue;
    const [name, ...below] = relative(store, real).split(sep);
    if (name !== undefined && below.length > 0) return { agent, name };
  }
  return undefined;
}

type FoundFolder = { readonly folder: string } | { readonly problem: ProjectProblem };

async function folderOf(place: StorePlace, session: LocatedSession, current: string): Promise<FoundFolder> {
  const matches =
    place.agent === "longhaul"
      ? await foldersHashedTo(place.name, session, current)
      : await foldersNamed(place.name, current);
  if (matches === undefined) return { problem: "ambiguous" };
  const [only, ...others] = matches;
  if (only === undefined) return { problem: "not-found" };
  if (others.length === 0) return { folder: only };
  const here = await realOrResolved(current);
  const around = matches.find((folder) => isWithin(folder, here));
  return around === undefined ? { problem: "ambiguous" } : { folder: around };
}

/**
 * Finds a folder with this hash. Searches the claimed folders, the current folder and its parents. If the
 * hash matches, the session belongs to the folder.
 */
async function foldersHashedTo(
  name: string,
  { cwd, entries }: LocatedSession,
  current: string,
): Promise<readonly string[]> {
  const claimed = [cwd, ...entries.map((entry) => stringField(entry, "cwd"))];
  const candidates = new Set([...claimed, ...withParents(resolve(current))]);
  for (const folder of candidates) {
    if (folder === undefined || !isAbsolute(folder) || projectFolderName("longhaul", folder) !== name)
      continue;
    if (await isFolder(folder)) return [folder];
  }
  return [];
}

/** Maximum number of folders in the search for one name. A search that exceeds it finds nothing. */
const MAX_FOLDERS_READ = 500;
const MAX_ENTRIES_READ = 100_000;

interface FolderSearch {
  readonly current: string;
  readonly matches: string[];
  folders: number;
  entries: number;
}

/**
 * Finds existing folders to which Claude Code gives this name. Such a name is the path, in which every
 * character except ASCII letters and digits is replaced by `-`. Several folders may have the same name.
 * Returns undefined if the search is too large.
 */
async function foldersNamed(name: string, current: string): Promise<readonly string[] | undefined> {
  // Claude Code truncates a long name and adds its own hash. Such a name can only be compared with the names
  // of the current folder and its parents.
  if (name.length > LONGEST_FOLDER_NAME)
    return withParents(resolve(current)).filter((each) => isCutTo(each, name));
  const drive = /^([A-Za-z])--/.exec(name)?.[1];
  const root = name.startsWith("-") ? "/" : drive === undefined ? undefined : `${drive}:\\`;
  if (root === undefined || parse(root).root !== root) return [];
  const search: FolderSearch = { current: resolve(current), matches: [], folders: 0, entries: 0 };
  const isWhole = await searchBelow(search, root, name.slice(projectFolderName("claude-code", root).length));
  return isWhole ? search.matches : undefined;
}

function isCutTo(folder: string, name: string): boolean {
  const whole = projectFolderName("claude-code", folder);
  return (
    whole.length > LONGEST_FOLDER_NAME &&
    whole.slice(0, LONGEST_FOLDER_NAME) === name.slice(0, LONGEST_FOLDER_NAME)
  );
}

/**
 * Searches the folders in a folder. `rest` is the part of the name that is not matched yet. Skips folders
 * whose encoded name is not the beginning of `rest`. Returns false as soon as a limit is exceeded.
 */
async function searchBelow(search: FolderSearch, folder: string, rest: string): Promise<boolean> {
  if (rest === "" || ++search.folders > MAX_FOLDERS_READ) return rest === "";
  const names = (await namesIn(search, folder)) ?? (await likelyNames(search, folder, rest));
  if (search.entries > MAX_ENTRIES_READ) return false;
  for (const name of names) {
    const short = projectFolderName("claude-code", name);
    const path = join(folder, name);
    if (short === rest) search.matches.push(path);
    const isOnTheWay = rest.startsWith(`${short}-`);
    if (isOnTheWay && !(await searchBelow(search, path, rest.slice(short.length + 1)))) return false;
  }
  return true;
}

/**
 * Lists the folders in a folder. Skips links, because an agent knows its working directory by its real path.
 * Returns undefined if the folder is unreadable.
 */
async function namesIn(search: FolderSearch, folder: string): Promise<readonly string[] | undefined> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      if (++search.entries > MAX_ENTRIES_READ) break;
      if (entry.isDirectory()) names.push(entry.name);
    }
  } catch {
    return undefined;
  }
  return names;
}

/**
 * Returns likely names in a folder that may be entered but not listed. One is the name on the path to the
 * current folder. The others are names that the encoding would not change.
 */
async function likelyNames(search: FolderSearch, folder: string, rest: string): Promise<readonly string[]> {
  const parts = rest.split("-");
  const literal = parts.map((_, index) => parts.slice(0, index + 1).join("-"));
  const onTheWay = isWithin(folder, search.current) ? relative(folder, search.current).split(sep) : [];
  const names: string[] = [];
  for (const name of new Set([...onTheWay.slice(0, 1), ...literal])) {
    if (name !== "" && (await isFolder(join(folder, name)))) names.push(name);
  }
  return names;
}

function withParents(folder: string): readonly string[] {
  const folders = [folder];
  for (let at = folder; at !== dirname(at); at = dirname(at)) folders.push(dirname(at));
  return folders;
}

/** Checks whether a path is in a folder, or is the folder itself. */
function isWithin(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false;

const realOrResolved = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));
