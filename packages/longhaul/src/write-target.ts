import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import type { UserPlaces, WriteTarget } from "@longhaul/sessions";
import { findSession } from "@longhaul/sessions";
import { findLatest, isSystemError, type LatestSession } from "@longhaul/sessions/internal";
import type { Terminal } from "./terminal.ts";
import { formatAge } from "./view/numbers.ts";
import { oneLine } from "./view/text-width.ts";

export interface TargetChoice {
  readonly dryRun?: boolean;
  readonly inPlace?: boolean;
  readonly out?: string;
}

/**
 * Returns the target of the output, or undefined if nothing is written. If the folder does not exist, rejects
 * before any work is done.
 */
export async function targetOf({ dryRun, inPlace, out }: TargetChoice): Promise<WriteTarget | undefined> {
  if (dryRun) return undefined;
  if (inPlace) return { mode: "in-place" };
  if (out === undefined) return undefined;
  await requireFolderOf(out);
  return { mode: "new-session", path: out };
}

/**
 * Throws if the folder does not exist. Without this check, a misspelled folder would be created. Any other
 * problem causes an error when the file is written.
 */
async function requireFolderOf(path: string): Promise<void> {
  const folder = dirname(path);
  try {
    await stat(folder);
  } catch (error) {
    if (!isSystemError(error) || error.code !== "ENOENT") return;
    const message = `The session ${path} was not written: the folder ${folder} does not exist. Nothing was changed.`;
    throw new LonghaulError("session-not-written", message, {
      remedy: "Create the folder, or choose another path.",
      facts: { path, folder },
      cause: error,
    });
  }
}

export interface WriteOptions {
  readonly places: UserPlaces;
  readonly now: Date;
  readonly terminal: Pick<Terminal, "note" | "confirm">;
  /** True if a program reads the output. In that case, the command asks no question. */
  readonly json?: boolean | undefined;
}

/**
 * Finds the session that a command will write to. Asks for confirmation if `latest` belongs to another
 * project.
 */
export async function findSessionToWrite(
  query: string,
  { places, now, terminal, json }: WriteOptions,
): Promise<string> {
  if (query !== "latest") return await findSession(query, places);
  const latest = await findLatest(places);
  terminal.note(`longhaul: ${latestWords(latest, now)}`);
  if (latest.isOfProject || json) return latest.path;
  // Undefined means that nobody can answer. The note above already names the session, so the command
  // continues.
  if ((await terminal.confirm("Use the session of another project?")) !== false) return latest.path;
  throw new LonghaulError("session-declined", "You did not confirm the session. Nothing was written.", {
    remedy: `To use this session, pass its id ${latest.id} instead of \`latest\`. \`longhaul sessions\` lists all sessions.`,
    facts: { id: latest.id, path: latest.path },
  });
}

/**
 * Returns the session of a read-only command. This is the given session. If none is given, it is the latest
 * session, and the command prints which session that is.
 */
export async function sessionOrLatest(
  query: string | undefined,
  { places, now, terminal }: Pick<WriteOptions, "places" | "terminal"> & { now(): Date },
): Promise<string> {
  if (query !== undefined) return query;
  const latest = await findLatest(places);
  terminal.note(`longhaul: ${latestWords(latest, now())}`);
  return latest.path;
}

/** Describes the latest session. Ids and folders come from files, so they are limited to one line. */
function latestWords({ id, folder, agent, modifiedAt, isOfProject }: LatestSession, now: Date): string {
  const owner = agent === "claude-code" ? "Claude Code" : "longhaul";
  const where = folder === undefined ? "" : ` in ${folder}`;
  const age = formatAge(now.getTime() - modifiedAt.getTime());
  const named = `The latest session is ${id} (${owner}${where}, ${age}).`;
  return oneLine(
    isOfProject ? named : `${named} It belongs to another project, because this one has no session yet.`,
  );
}
