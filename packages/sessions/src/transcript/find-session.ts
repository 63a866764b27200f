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
  type SessionFile,
  sessionFiles,
  withQuietReader,
} from "./list-sessions.ts";
import {
  isSessionId,
  LONGEST_FOLDER_NAME,
  projectFolderName,
  type SessionAgent,
  type UserPlaces,
} from "./locations.ts";

/** How many sessions an error names when a prefix fits several. */
const MOST_CANDIDATES_NAMED = 5;

/** Finds the file that a person means by a path, an id, the start of an id, or `latest`. */
export async function findSession(query: string, places: UserPlaces): Promise<string> {
  // Whether a path exists is for the reader to say, which knows more about what can be wrong with a file.
  if (/[\\/]|\.jsonl$/.test(query) || (await exists(query))) return query;
  if (!isSessionId(query)) throw notFound(query);
  if (query === "latest") return (await findLatest(places)).path;
  const files = await sessionFiles(places);
  const exact = files.filter((file) => file.id === query);
  const candidates = exact.length > 0 ? exact : files.filter((file) => file.id.startsWith(query));
  const [only, ...others] = candidates;
  if (only === undefined) throw notFound(query);
  if (others.length > 0) throw ambiguous(query, candidates);
  return only.path;
}

export async function findLatest(places: UserPlaces): Promise<LatestSession> {
  const latest = await latestSession(places);
  if (latest === undefined) throw notFound("latest");
  return latest;
}

async function exists(path: string): Promise<boolean> {
  if (path === "latest" || path === "") return false;
  const facts = await stat(path).catch(() => undefined);
  return facts?.isFile() === true;
}

function notFound(query: string): LonghaulError {
  const what =
    query === "latest"
      ? "No session holds a conversation yet."
      : `No session is called ${JSON.stringify(query)}.`;
  return new LonghaulError("session-not-found", what, {
    remedy: "Run `longhaul sessions` to see the sessions there are, or give the path of a session file.",
    facts: { query },
  });
}

function ambiguous(query: string, candidates: readonly SessionFile[]): LonghaulError {
  const named = candidates
    .slice(0, MOST_CANDIDATES_NAMED)
    .map((file) => (file.id === query ? file.path : file.id));
  const more = candidates.length > named.length ? ` and ${candidates.length - named.length} more` : "";
  return new LonghaulError(
    "session-ambiguous",
    `${candidates.length} sessions are called ${JSON.stringify(query)}: ${named.join(", ")}${more}.`,
    {
      remedy: "Give more of the id, or the path of the file.",
      facts: { query, candidates: candidates.length },
    },
  );
}

export interface LatestSession extends SessionFile {
  /** The working folder of the session; undefined when the file does not name one. */
  readonly folder: string | undefined;
  /** True when it belongs to the project of the current folder, or when no current folder is known. */
  readonly isOfProject: boolean;
}

/**
 * The newest session that holds a conversation: of the current folder's project if there is one, else of any project.
 * Opens only the files that can be the answer, and reads only their ends.
 *
 * @param agent whose sessions to look at; all of them unless given.
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
      // Without a folder in sight the name of the store has to do.
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

/** A folder whose sessions belong to the current project. */
interface ProjectFolder {
  readonly path: string;
  readonly withSubfolders: boolean;
}

/**
 * The folders of the current project, the nearest first: the whole git worktree, then each folder above it. Without git
 * these are the current folder and each folder above it. The home folder counts only for somebody who works right in it.
 */
async function projectFolders(cwd: string, home: string): Promise<readonly ProjectFolder[]> {
  const root = await worktreeOf(cwd, home);
  const folders: ProjectFolder[] = [{ path: root ?? cwd, withSubfolders: root !== undefined }];
  for (let at = dirname(root ?? cwd); at !== home && at !== dirname(at); at = dirname(at))
    folders.push({ path: at, withSubfolders: false });
  return folders;
}

/** A repository of the whole home folder, such as one of dotfiles, is not the project of what is below it. */
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

function isIn({ path, withSubfolders }: ProjectFolder, folder: string | undefined): boolean {
  return folder === path || (withSubfolders && folder?.startsWith(`${path}${sep}`) === true);
}

function folderByName({ path, agent }: SessionFile, project: ProjectFolder): string | undefined {
  return basename(dirname(path)) === projectFolderName(agent, project.path) ? project.path : undefined;
}

interface Peek {
  readonly folder: string | undefined;
  readonly isConversation: boolean;
}

/** Facts about files that were opened, so that none is opened twice. */
class Peeks {
  readonly #files = new Map<string, Peek>();
  /** A folder of our own store holds the sessions of one working folder. */
  readonly #folders = new Map<string, string>();

  /** False when the path alone shows that it belongs to another project. */
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
    // An agent may change its folder on the way; the store is named after the one it began in.
    const name = basename(dirname(path));
    const began = [first, last].find((cwd) => cwd !== undefined && projectFolderName(agent, cwd) === name);
    const isConversation =
      lastLineThat(tail, ANSWER_MARKS, answerIn) ??
      lastLineThat(head, ANSWER_MARKS, answerIn) ??
      (bytes > END_BYTES && (await hasAnswerAbove(readAt, bytes)));
    // A file may claim any folder. Its place in the store proves the claim, unless Claude Code cut the name.
    const isCut = agent === "claude-code" && name.length > LONGEST_FOLDER_NAME;
    return { folder: isCut ? (began ?? last) : began, isConversation };
  });
}

const ANSWER_MARKS = [RESPONSE_MARK, BOUNDARY_MARK];

/** An error that the agent wrote in the model's name is no answer. A compaction follows many answers. */
function answerIn(entry: Entry): true | undefined {
  if (entry.isSidechain === true) return undefined;
  const isAnswer = entry.type === "assistant" ? !isSynthetic(entry) : isCompactBoundary(entry);
  return isAnswer ? true : undefined;
}

/** Longer lines than this are no errors. */
const LONGEST_ERROR_BYTES = 1024 * 1024;

/**
 * Only for files with a very long line at both ends: a pasted image, a large result. It starts at the end of the file,
 * because such a line may cross the start of the last bytes that were read.
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
