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
   * The project: only files in this folder are put back, and no well-known secrets. The user must have chosen it: a
   * session's own `cwd` can be any folder. `sessionProject` decides it for a session file.
   */
  readonly folder: string | undefined;
  /** The base of relative paths; the folder itself unless given. */
  readonly cwd?: string | undefined;
  /** Where the plan is. Without it, where Claude Code keeps the plan of a session, if `entries` and `places` are given. */
  readonly planPath?: string | undefined;
  /** The session, whose newest lines name its plan. */
  readonly entries?: readonly Entry[] | undefined;
  readonly places?: UserPlaces | undefined;
  /** JSON: a list of to-dos, or an object that has it under `todos`. Without it, what the conversation tells. */
  readonly todosPath?: string | undefined;
  /** The session's notes. */
  readonly notesPath?: string | undefined;
}

/** What can be told of a session from files alone. The rest is read from the conversation. */
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

/** A session may know the folder under another name than the user, through a link. */
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

/** Claude Code names a session's plan by the slug that stands on the session's lines. */
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

/** What is in the file is checked like any answer of a host. */
async function readTodos(path: string): Promise<readonly Todo[]> {
  const text = await textIfThere(path);
  if (text === undefined) return [];
  const list = parseJson(text);
  if (list === undefined) throw new Error("The file of to-dos is no JSON.");
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

/** Undefined where there is no such file; a file that is there and cannot be read is a failure to report. */
async function textIfThere(path: string): Promise<string | undefined> {
  const file = await readTextFile(path);
  if (file.state === "read" && !file.isHead) return file.text;
  const reason = file.state === "read" ? "too-large" : file.reason;
  if (reason === "gone") return undefined;
  throw new Error(`A file of the session could not be read: ${reason}.`);
}
