import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { field, parseJson } from "@longhaul/core/internal/messages";
import { withOpenFile } from "../transcript/file-bytes.ts";
import { agentFolder, type SessionAgent, type UserPlaces } from "../transcript/locations.ts";
import { problemOf } from "./text-file.ts";

export interface UserHooksOptions {
  /** True to also read the hooks that the user has configured for Claude Code. */
  readonly claudeCode?: boolean | undefined;
}

export interface UserHooks {
  /** Settings to pass to `createHooks` as `settings`. */
  readonly settings: readonly unknown[];
  /** Warnings: one sentence for each file that was not used. */
  readonly warnings: readonly string[];
}

/** Maximum size of a settings file. Nobody types a larger file. */
const LARGEST_FILE_BYTES = 4 * 1024 * 1024;
const WRITABLE_BY_OTHERS = 0o022;
/**
 * Mode bit of a folder in which others can add files. In such a folder, nobody can replace another user's
 * files.
 */
const STICKY = 0o1000;
const ROOT_UID = 0;

/**
 * Reads hooks from files in the user's own folders. Reads only files that nobody else can have written. Never
 * reads hooks from a project, because hooks are programs, and opening a project must not run them.
 */
export async function readUserHooks(places: UserPlaces, options: UserHooksOptions = {}): Promise<UserHooks> {
  const agents: readonly SessionAgent[] = options.claudeCode ? ["longhaul", "claude-code"] : ["longhaul"];
  const files = await Promise.all(
    agents.map((agent) => readHooksFile(join(agentFolder(agent, places), "settings.json"))),
  );
  return {
    settings: files.flatMap((file) => ("settings" in file ? [file.settings] : [])),
    warnings: files.flatMap((file) => ("warning" in file ? [file.warning] : [])),
  };
}

type HooksFile = { readonly settings: unknown } | { readonly warning: string } | Record<string, never>;

async function readHooksFile(path: string): Promise<HooksFile> {
  try {
    const { text, stats } = await readSmallFile(path);
    const file = parseJson(text);
    // If the file has no hooks, neither its permissions nor its syntax matter here.
    if (text.includes('"hooks"') && file === undefined) return refused(path, "it is not valid JSON");
    if (field(file, "hooks") === undefined) return {};
    const reason = await distrust(path, stats);
    return reason === undefined ? { settings: file } : refused(path, reason);
  } catch (error) {
    return problemOf(error) === "gone" ? {} : refused(path, "it cannot be read");
  }
}

const refused = (path: string, reason: string): HooksFile => ({
  warning: `The hooks in ${path} are ignored: ${reason}.`,
});

/**
 * Reads the whole file and its permissions from the same handle. This ensures that the file that is checked
 * is the file that is read.
 */
function readSmallFile(path: string): Promise<{ readonly text: string; readonly stats: Stats }> {
  return withOpenFile(path, async (handle) => {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > LARGEST_FILE_BYTES) throw new Error("no settings file");
    return { text: await handle.readFile("utf8"), stats };
  });
}

/**
 * Returns the reason why somebody else may have written the file. Returns undefined if there is no such
 * reason. On Windows, always returns undefined, because Node reports no user id there.
 */
async function distrust(path: string, file: Stats): Promise<string | undefined> {
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  if (file.uid !== uid && file.uid !== ROOT_UID) return "the file belongs to another user";
  if ((file.mode & WRITABLE_BY_OTHERS) !== 0) {
    return `other users can write to the file. Run \`chmod go-w ${path}\``;
  }
  const folder = await stat(dirname(path));
  if (folder.uid !== uid && folder.uid !== ROOT_UID) return "its folder belongs to another user";
  const isOpen = (folder.mode & WRITABLE_BY_OTHERS) !== 0 && (folder.mode & STICKY) === 0;
  return isOpen ? `other users can write to its folder. Run \`chmod go-w ${dirname(path)}\`` : undefined;
}
