import { basename, dirname } from "node:path";
import { folderByName, isIn, type ProjectFolder, projectFolders } from "../transcript/find-session.ts";
import { type SessionFile, sessionFiles } from "../transcript/list-sessions.ts";
import { LONGEST_FOLDER_NAME, projectFolderName, type UserPlaces } from "../transcript/locations.ts";

/** Sessions to search: those of the current folder's project, or all sessions of the machine. */
export type RecallScope = "project" | "machine";

/** Sessions that may be in a scope, and the rule that decides it once the folders of a session are known. */
export interface ScopedSessions {
  /** Newest first. */
  readonly files: readonly SessionFile[];
  /** @param folders working directories that the session names. Untrusted text. */
  includes(file: SessionFile, folders: readonly string[]): boolean;
}

/** Lists the sessions of a scope without opening any. */
export async function sessionsIn(scope: RecallScope, places: UserPlaces): Promise<ScopedSessions> {
  const files = await sessionFiles(places);
  const [project] = scope === "project" ? await projectFolders(places.cwd ?? places.home, places.home) : [];
  if (project === undefined) return { files, includes: () => true };
  return {
    files: files.filter((file) => mayBelong(file, project)),
    includes: (file, folders) => isIn(project, provenFolder(file, folders) ?? folderByName(file, project)),
  };
}

/** Returns false if the path alone shows that a session belongs to another project. */
function mayBelong({ path, agent }: SessionFile, project: ProjectFolder): boolean {
  const name = basename(dirname(path));
  const expected = projectFolderName(agent, project.path);
  if (name === expected) return true;
  if (!project.withSubfolders && expected.length <= LONGEST_FOLDER_NAME) return false;
  // The name is a hash, so only the session itself tells whether it belongs to a subfolder.
  if (agent === "longhaul") return project.withSubfolders;
  return name.startsWith(expected.slice(0, LONGEST_FOLDER_NAME));
}

/**
 * Returns the working directory of a session. A file may name any folder. Its location in the store proves the
 * name, unless the agent truncated the name of the store folder.
 */
export function provenFolder({ path, agent }: SessionFile, folders: readonly string[]): string | undefined {
  const name = basename(dirname(path));
  const proven = folders.find((folder) => projectFolderName(agent, folder) === name);
  const isCut = agent === "claude-code" && name.length > LONGEST_FOLDER_NAME;
  return proven ?? (isCut ? folders.at(-1) : undefined);
}
