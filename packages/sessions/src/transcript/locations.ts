import { createHash } from "node:crypto";
import { isAbsolute, join } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";

/** Where the user's files are; passed in, so that nothing here depends on the machine it runs on. */
export interface UserPlaces {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that the user works in: `latest` prefers the sessions of its project. */
  readonly cwd?: string;
}

export type SessionAgent = "claude-code" | "longhaul";

/** Enough of the hash that two folders never meet, short enough to read. */
const PROJECT_HASH_DIGITS = 16;

/** One name of a file, whatever the system: no separators, no leading dot, and of bearable length. */
const SESSION_ID = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$/;

export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text) && !text.includes("..");
}

/** Where an agent keeps its settings and sessions. */
export function agentFolder(agent: SessionAgent, { home, env }: UserPlaces): string {
  const [given, name] =
    agent === "longhaul" ? [env.LONGHAUL_HOME, ".longhaul"] : [env.CLAUDE_CONFIG_DIR, ".claude"];
  // A relative folder would be one of the project, which may be anybody's: its settings would count as the user's.
  return given !== undefined && isAbsolute(given) ? given : join(home, name);
}

export function projectsFolder(agent: SessionAgent, places: UserPlaces): string {
  return join(agentFolder(agent, places), "projects");
}

/** What an agent calls the folder for the sessions of one working directory. */
export function projectFolderName(agent: SessionAgent, cwd: string): string {
  return agent === "longhaul"
    ? createHash("sha256").update(cwd).digest("hex").slice(0, PROJECT_HASH_DIGITS)
    : cwd.replace(/[^A-Za-z0-9]/g, "-");
}

/** Ids come from files and command lines: one that could lead out of the folder is refused. */
export function sessionPath(agent: SessionAgent, places: UserPlaces, cwd: string, sessionId: string): string {
  if (!isSessionId(sessionId)) {
    throw new LonghaulError("session-not-found", `${JSON.stringify(sessionId)} is not a session id.`, {
      remedy: "Run `longhaul sessions` to see the sessions there are.",
    });
  }
  return join(projectsFolder(agent, places), projectFolderName(agent, cwd), `${sessionId}.jsonl`);
}

/** Claude Code cuts longer names of project folders, and adds a hash. */
export const LONGEST_FOLDER_NAME = 200;
