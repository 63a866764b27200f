import { createHash } from "node:crypto";
import { isAbsolute, join } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";

/** Locations of the user's files. They are passed in, so that nothing here depends on the machine. */
export interface UserPlaces {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Current folder of the user. `latest` prefers the sessions of this folder's project. */
  readonly cwd?: string;
}

export type SessionAgent = "claude-code" | "longhaul";

/** Number of hash digits. They are enough that two folders never collide, and few enough to read. */
const PROJECT_HASH_DIGITS = 16;

/**
 * Pattern of a session id. An id must be a valid file name on any system. So it has no separators, no leading
 * dot, and a reasonable length.
 */
const SESSION_ID = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$/;

export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text) && !text.includes("..");
}

/** Returns the folder in which an agent keeps its settings and sessions. */
export function agentFolder(agent: SessionAgent, { home, env }: UserPlaces): string {
  const [given, name] =
    agent === "longhaul" ? [env.LONGHAUL_HOME, ".longhaul"] : [env.CLAUDE_CONFIG_DIR, ".claude"];
  // Ignores a relative path, because its folder would be inside the project. A project may come from anybody,
  // but the settings in this folder would count as the user's settings.
  return given !== undefined && isAbsolute(given) ? given : join(home, name);
}

export function projectsFolder(agent: SessionAgent, places: UserPlaces): string {
  return join(agentFolder(agent, places), "projects");
}

/** Returns the name of the folder for an agent's sessions in one working directory. */
export function projectFolderName(agent: SessionAgent, cwd: string): string {
  return agent === "longhaul"
    ? createHash("sha256").update(cwd).digest("hex").slice(0, PROJECT_HASH_DIGITS)
    : cwd.replace(/[^A-Za-z0-9]/g, "-");
}

/**
 * Returns the path of a session. Ids come from files and command lines, so an id that could lead out of the
 * folder is refused.
 */
export function sessionPath(agent: SessionAgent, places: UserPlaces, cwd: string, sessionId: string): string {
  if (!isSessionId(sessionId)) {
    throw new LonghaulError("session-id-invalid", `${JSON.stringify(sessionId)} is not a session id.`, {
      remedy:
        "An id has at most 200 letters, digits, `_`, `-` and single dots. Run `longhaul sessions` to list the ids of all sessions.",
      facts: { id: sessionId },
    });
  }
  return join(projectsFolder(agent, places), projectFolderName(agent, cwd), `${sessionId}.jsonl`);
}

/** Maximum length of a project folder's name. Claude Code truncates longer names, and adds a hash. */
export const LONGEST_FOLDER_NAME = 200;
