import { dirname } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import { type SessionAgent, sessionPath, type UserPlaces } from "@longhaul/sessions";
import {
  latestSession,
  peekSession,
  type SessionFile,
  sessionFiles,
  sessionLabel,
} from "@longhaul/sessions/internal";
import { formatAge, formatShort, ID_SHOWN } from "../view/numbers.ts";
import { fitText } from "../view/text-width.ts";
import type { Screen } from "./screen/screen.ts";

/**
 * Maximum number of sessions to list. A person who wants an older session knows its id, or finds it with
 * `longhaul sessions`.
 */
const MAX_LISTED = 10;
const TITLE_WIDTH = 60;

/** Returns the sessions of a working directory, newest first. */
async function sessionsOf(cwd: string, places: UserPlaces): Promise<readonly SessionFile[]> {
  const agents: readonly SessionAgent[] = ["longhaul", "claude-code"];
  const folders = new Set(agents.map((agent) => dirname(sessionPath(agent, places, cwd, "any"))));
  return (await sessionFiles(places)).filter(({ path }) => folders.has(dirname(path)));
}

/** Finds the newest chat of the folder's project that has a conversation. */
export async function newestSession(cwd: string, places: UserPlaces): Promise<string> {
  const newest = await latestSession({ ...places, cwd }, "longhaul");
  if (newest?.isOfProject) return newest.path;
  throw new LonghaulError("no-session-to-resume", "The project of this folder has no chat to continue.", {
    remedy: "Start one with `longhaul chat`. `longhaul sessions` lists the sessions of other folders.",
    facts: { cwd },
  });
}

export interface ChooseOptions {
  readonly places: UserPlaces;
  readonly cwd: string;
  readonly now: Date;
  /** Excludes this session, because it is open. */
  readonly without?: string;
}

/**
 * Asks the person for a session to resume. Returns undefined if the person selects none. The list contains
 * Claude Code sessions too, which are resumed as copies.
 */
export async function chooseSession(
  screen: Pick<Screen, "choose" | "width">,
  { places, cwd, now, without }: ChooseOptions,
): Promise<string | undefined> {
  const all = await sessionsOf(cwd, places);
  const files = all.filter(({ path }) => path !== without).slice(0, MAX_LISTED);
  if (files.length === 0) {
    throw new LonghaulError(
      "no-session-to-resume",
      "The project of this folder has no other session to resume.",
      {
        remedy: "Pass the id of a session. `longhaul sessions` lists the sessions of all folders.",
        facts: { cwd },
      },
    );
  }
  const options = await Promise.all(files.map((file) => optionOf(file, now, screen.width)));
  const chosen = await screen.choose({ title: "Which session do you want to resume?", options });
  return files[chosen?.picked[0] ?? -1]?.path;
}

async function optionOf(
  file: SessionFile,
  now: Date,
  width: number,
): Promise<{ readonly label: string; readonly description: string }> {
  const glance = await peekSession(file.path, file.bytes);
  const facts = [
    file.id.slice(0, ID_SHOWN),
    formatAge(now.getTime() - file.modifiedAt.getTime()),
    ...(glance.contextTokens === undefined ? [] : [`${formatShort(glance.contextTokens)} tokens`]),
    ...(file.agent === "claude-code" ? ["Claude Code"] : []),
  ];
  const label = fitText(sessionLabel(glance), Math.min(TITLE_WIDTH, width - 6));
  return { label, description: facts.join(", ") };
}
