import { access, stat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import { isCompactBoundary, isSynthetic } from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import { BOUNDARY_MARK, lastLineWith, RESPONSE_MARK, type ReadAt } from "./file-bytes.ts";
import {
  CWD_MARK,
  cwdOf,
  firstLineThat,
  lastLineThat,
  linesBetween,
  peekSession,
  type SessionFile,
  sessionFiles,
  sessionLabel,
  withQuietReader,
} from "./list-sessions.ts";
import {
  isSessionId,
  LONGEST_FOLDER_NAME,
  projectFolderName,
  type SessionAgent,
  type UserPlaces,
} from "./locations.ts";

/** Maximum number of sessions that an error lists if several match a prefix. */
const MAX_CANDIDATES_NAMED = 5;
/** Maximum characters of a title or a prompt in an error. */
const LONGEST_LABEL = 40;

/** Finds the session file for a path, an id, the start of an id, or `latest`. */
export async function findSession(query: string, places: UserPlaces): Promise<string> {
  // Does not check whether the path exists. The code that reads the file reports a missing path, because that
  // code knows more about possible problems.
  if (/[\\/]|\.jsonl$/.test(query) || (await isFileOrFolder(query, "file"))) return query;
  if (!isSessionId(query)) throw notFound(query);
  if (query === "latest") return (await findLatest(places)).path;
  const files = await sessionFiles(places);
  const exact = files.filter((file) => file.id === query);
  const candidates = exact.length > 0 ? exact : files.filter((file) => file.id.startsWith(query));
  const [only, ...others] = candidates;
  if (only === undefined) {
    // The search for sessions comes first, because an id may also be the name of a folder.
    if (await isFileOrFolder(query, "folder")) return query;
    throw notFound(query);
  }
  if (others.length > 0) throw await ambiguous(query, candidates);
  return only.path;
}

export async function findLatest(places: UserPlaces): Promise<LatestSession> {
  const latest = await latestSession(places);
  if (latest === undefined) throw notFound("latest");
  return latest;
}

async function isFileOrFolder(path: string, wanted: "file" | "folder"): Promise<boolean> {
  if (path === "latest" || path === "") return false;
  const facts = await stat(path).catch(() => undefined);
  return (wanted === "file" ? facts?.isFile() : facts?.isDirectory()) === true;
}

function notFound(query: string): LonghaulError {
  const why =
    query === "latest"
      ? "no session on this machine has a conversation yet"
      : `no session has an id that starts with ${JSON.stringify(query)}`;
  return new LonghaulError("session-not-found", `No session found: ${why}.`, {
    remedy: "Run `longhaul sessions` to list all sessions, or pass the path of a session file.",
    facts: { query },
  });
}

async function ambiguous(query: string, candidates: readonly SessionFile[]): Promise<LonghaulError> {
  const listed = await Promise.all(
    candidates.slice(0, MAX_CANDIDATES_NAMED).map(async ({ id, path, bytes }) => {
      const label = sessionLabel(await peekSession(path, bytes)).replace(/\s+/g, " ");
      const shown = label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL)}…` : label;
      return `  ${id === query ? path : id}  ${shown}`;
    }),
  );
  const more = candidates.length - listed.length;
  const lines = more > 0 ? [...listed, `  and ${more} more`] : listed;
  const message = `${candidates.length} sessions have an id that starts with ${JSON.stringify(query)}.`;
  return new LonghaulError("session-ambiguous", message, {
    remedy: ["Pass more of the id, or the path of a file:", ...lines].join("\n"),
    facts: { query, candidates: candidates.length },
  });
}

export interface LatestSession extends SessionFile {
  /** Working directory of the session. Undefined if the file names none. */
  readonly folder: string | undefined;
  /** True if the session belongs to the project of the current folder, or if no current folder is known. */
  readonly isOfProject: boolean;
}

/**
 * Finds the newest session with a conversation in the current folder's project. If that project has no such
 * session, finds the newest one of any project. Opens only possible candidates, and reads only their ends.
 *
 * @param agent agent whose sessions to search. Default: all agents.
 */
export async function latestSession(
  places: UserPlaces,
  agent?: SessionAgent,
): Promise<LatestSession | undefined> {
  const { cwd, home } = places;
  const all = await sessionFiles(places);
  const files = agent === undefined ? all : all.filter((file) => file.agent === agent);
  const peeks = new Peeks();
  for (const project of cwd === undefined ? [] : await projectFolders(cwd, home)) {
    for (const file of files) {
      if (!peeks.mayBelong(file, project)) continue;
      const { folder, isConversation } = await peeks.at(file);
      // If the file names no folder, the name of its store folder decides.
      if (isConversation && isIn(project, folder ?? folderByName(file, project)))
        return { ...file, folder: folder ?? project.path, isOfProject: true };
    }
  }
  for (const file of files) {
    const { folder, isConversation } = await peeks.at(file);
    if (isConversation) return { ...file, folder, isOfProject: cwd === undefined };
  }
  return undefined;
}

/** Folder whose sessions belong to the current project. */
export interface ProjectFolder {
  readonly path: string;
  readonly withSubfolders: boolean;
}

/**
 * Returns the folders of the current project, nearest first. With git, these are the whole git worktree and
 * each parent folder. Without git, these are the current folder and each parent folder. The home folder
 * counts only if it is the current folder.
 */
export async function projectFolders(cwd: string, home: string): Promise<readonly ProjectFolder[]> {
  const root = await worktreeOf(cwd, home);
  const folders: ProjectFolder[] = [{ path: root ?? cwd, withSubfolders: root !== undefined }];
  for (let at = dirname(root ?? cwd); at !== home && at !== dirname(at); at = dirname(at))
    folders.push({ path: at, withSubfolders: false });
  return folders;
}

/**
 * Returns the git worktree. A repository of the whole home folder, such as one for dotfiles, is not the
 * project of its subfolders.
 */
async function worktreeOf(cwd: string, home: string): Promise<string | undefined> {
  for (let at = cwd; at !== home && at !== dirname(at); at = dirname(at)) {
    const isRoot = await access(join(at, ".git")).then(
      () => true,
      () => false,
    );
    if (isRoot) return at;
  }
  return undefined;
}

export function isIn({ path, withSubfolders }: ProjectFolder, folder: string | undefined): boolean {
  return folder === path || (withSubfolders && folder?.startsWith(`${path}${sep}`) === true);
}

/** Returns the folder of the project if the store folder of a session is named after it. */
export function folderByName({ path, agent }: SessionFile, project: ProjectFolder): string | undefined {
  return basename(dirname(path)) === projectFolderName(agent, project.path) ? project.path : undefined;
}

interface Peek {
  readonly folder: string | undefined;
  readonly isConversation: boolean;
}

/** Cache of facts about opened files, so that none is opened twice. */
class Peeks {
  readonly #files = new Map<string, Peek>();
  /**
   * Working directories of our own sessions. The key is a folder of our store, the value is the working
   * directory of all sessions in that folder.
   */
  readonly #folders = new Map<string, string>();

  /** Returns false if the path alone shows that the session file belongs to another project. */
  mayBelong({ path, agent }: SessionFile, project: ProjectFolder): boolean {
    const store = dirname(path);
    const name = basename(store);
    const expected = projectFolderName(agent, project.path);
    if (name === expected) return true;
    if (agent === "longhaul") {
      const folder = this.#folders.get(store);
      return project.withSubfolders && (folder === undefined || isIn(project, folder));
    }
    if (!project.withSubfolders && expected.length <= LONGEST_FOLDER_NAME) return false;
    return name.startsWith(expected.slice(0, LONGEST_FOLDER_NAME));
  }

  async at(file: SessionFile): Promise<Peek> {
    const { path, agent } = file;
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const peek = await peekAt(file);
    this.#files.set(path, peek);
    if (agent === "longhaul" && peek.folder !== undefined) this.#folders.set(dirname(path), peek.folder);
    return peek;
  }
}

const END_BYTES = 64 * 1024;
const NOTHING: Peek = { folder: undefined, isConversation: false };

function peekAt({ path, agent, bytes }: SessionFile): Promise<Peek> {
  return withQuietReader(path, NOTHING, async (readAt) => {
    const tail = await linesBetween(readAt, Math.max(0, bytes - END_BYTES), bytes);
    const head = bytes <= END_BYTES ? tail : await linesBetween(readAt, 0, END_BYTES);
    const first = firstLineThat(head, CWD_MARK, cwdOf);
    const last = lastLineThat(tail, [CWD_MARK], cwdOf) ?? lastLineThat(head, [CWD_MARK], cwdOf);
    // An agent may change its folder during a session. The store folder is named after the first folder.
    const name = basename(dirname(path));
    const began = [first, last].find((cwd) => cwd !== undefined && projectFolderName(agent, cwd) === name);
    const isConversation =
      lastLineThat(tail, ANSWER_MARKS, answerIn) ??
      lastLineThat(head, ANSWER_MARKS, answerIn) ??
      (bytes > END_BYTES && (await hasAnswerAbove(readAt, bytes)));
    // A file may claim any folder. Its location in the store proves the claim, unless Claude Code truncated
    // the name of the store folder.
    const isCut = agent === "claude-code" && name.length > LONGEST_FOLDER_NAME;
    return { folder: isCut ? (began ?? last) : began, isConversation };
  });
}

const ANSWER_MARKS = [RESPONSE_MARK, BOUNDARY_MARK];

/**
 * Returns true for an answer of the model. Also returns true for a compaction, which proves that there were
 * answers. An error that the agent wrote in the model's name is not an answer.
 */
function answerIn(entry: Entry): true | undefined {
  if (entry.isSidechain === true) return undefined;
  const isAnswer = entry.type === "assistant" ? !isSynthetic(entry) : isCompactBoundary(entry);
  return isAnswer ? true : undefined;
}

/** Maximum size of an error line. Longer lines are not errors. */
const LONGEST_ERROR_BYTES = 1024 * 1024;

/**
 * Searches for an answer in a file that has a very long line at both ends. Such a line can be a pasted image
 * or a large result. The search starts at the end of the file, because the long line may begin above the
 * bytes that were read.
 */
async function hasAnswerAbove(readAt: ReadAt, bytes: number): Promise<boolean> {
  for (let end = bytes; ; ) {
    const start = await lastLineWith(readAt, RESPONSE_MARK, end);
    if (start === undefined) return false;
    const buffer = Buffer.allocUnsafe(LONGEST_ERROR_BYTES);
    const read = buffer.subarray(0, await readAt(buffer, start));
    const newline = read.indexOf("\n");
    if (newline < 0 && read.length === buffer.length) return true;
    const line = newline < 0 ? read : read.subarray(0, newline);
    if (lastLineThat(line, [RESPONSE_MARK], answerIn)) return true;
    end = start;
  }
}
