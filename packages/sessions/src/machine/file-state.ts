import { realpath, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { listField, parseJson, stringField } from "@longhaul/core/internal/messages";
import { memoryFilesNow } from "@longhaul/core/memory-files";
import type { Entry, Todo } from "@longhaul/core/messages";
import type { HostState, Plan } from "@longhaul/core/restore";
import { agentFolder, isSessionId, type UserPlaces } from "../transcript/locations.ts";
import { memoryFilesPort, projectFiles } from "./project-files.ts";
import { isSecretFile } from "./secret-files.ts";
import { problemOf, readTextFile } from "./text-file.ts";

export interface FileStateOptions {
  /**
   * Project folder. Only files inside this folder are restored. Well-known secrets are never restored. The
   * user must have chosen the folder, because a session's own `cwd` can be any folder. `sessionProject`
   * determines the folder for a session file.
   */
  readonly folder: string | undefined;
  /** Base of relative paths. Default: the folder itself. */
  readonly cwd?: string | undefined;
  /**
   * Path of the plan. If `entries` and `places` are given, the default is the path where Claude Code stores
   * the session's plan.
   */
  readonly planPath?: string | undefined;
  /** Entries of the session. The newest entries contain the name of its plan. */
  readonly entries?: readonly Entry[] | undefined;
  readonly places?: UserPlaces | undefined;
  /**
   * JSON file with a list of to-dos. The list may also be in the field `todos` of an object. By default, the
   * to-dos come from the conversation.
   */
  readonly todosPath?: string | undefined;
  /** Path of the session's notes. */
  readonly notesPath?: string | undefined;
}

/** Reads the session state that is in files. All other state comes from the conversation. */
export function fileState(options: FileStateOptions): HostState {
  const { folder, cwd, todosPath, notesPath } = options;
  const planPath = options.planPath ?? claudePlanPath(options);
  return {
    files: projectFiles(folder, { cwd }),
    memoryFiles: folder === undefined ? undefined : memoryFilesIn(folder),
    plan: planPath === undefined ? undefined : () => readPlan(planPath),
    todos: todosPath === undefined ? undefined : () => readTodos(todosPath),
    sessionMemory: notesPath === undefined ? undefined : () => pathIfFilled(notesPath),
  };
}

/**
 * Reads memory files of a folder. A session and the user may name the folder by different paths. For this
 * reason, also compares the paths after resolving links.
 */
function memoryFilesIn(folder: string): NonNullable<HostState["memoryFiles"]> {
  const read = memoryFilesNow({ cwd: folder, port: memoryFilesPort({ cwd: folder }) });
  return async (path) => {
    if (isSecretFile(path)) return { state: "unavailable", reason: "secret" };
    const answer = await read(path);
    if (answer.state === "read" || answer.reason !== "outside-project") return answer;
    const names = await Promise.all([realpath(folder), realpath(path)]).catch(() => undefined);
    return names === undefined ? answer : read(join(folder, relative(...names)));
  };
}

/** Returns the path of the session's plan. Claude Code names it after the slug in the session's lines. */
function claudePlanPath({ entries, places }: FileStateOptions): string | undefined {
  if (entries === undefined || places === undefined) return undefined;
  const newest = entries.findLast((entry) => stringField(entry, "slug") !== undefined);
  const slug = stringField(newest, "slug");
  if (slug === undefined || !isSessionId(slug)) return undefined;
  return join(agentFolder("claude-code", places), "plans", `${slug}.md`);
}

async function readPlan(path: string): Promise<Plan | undefined> {
  const content = await textIfThere(path);
  return content === undefined || content.trim() === "" ? undefined : { path, content };
}

/** Reads to-dos from a file. The engine checks the content like any other data from a host. */
async function readTodos(path: string): Promise<readonly Todo[]> {
  const text = await textIfThere(path);
  if (text === undefined) return [];
  const list = parseJson(text);
  if (list === undefined) throw new Error("The to-do file is not valid JSON.");
  return (Array.isArray(list) ? list : listField(list, "todos")) as readonly Todo[];
}

async function pathIfFilled(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path);
    return found.isFile() && found.size > 0 ? path : undefined;
  } catch (error) {
    if (problemOf(error) === "gone") return undefined;
    throw error;
  }
}

/** Returns undefined if the file does not exist. Throws if it exists and is unreadable. */
async function textIfThere(path: string): Promise<string | undefined> {
  const file = await readTextFile(path);
  if (file.state === "read" && !file.isHead) return file.text;
  const reason = file.state === "read" ? "too-large" : file.reason;
  if (reason === "gone") return undefined;
  throw new Error(`longhaul could not read a file of the session: ${reason}.`);
}
