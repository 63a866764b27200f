import { dirname } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import { resumeSession, type SessionAgent, sessionPath, type UserPlaces } from "@longhaul/sessions";
import { glanceAtSession, latestSession, type SessionFile, sessionFiles } from "@longhaul/sessions/internal";
import { promptsOf } from "../prompts-report.ts";
import { formatAge, formatShort } from "../view/numbers.ts";
import { fitText } from "../view/text-width.ts";
import type { Screen } from "./screen/screen.ts";

/** Who wants an older one knows its id, or finds it with `longhaul sessions`. */
const MOST_LISTED = 10;
const TITLE_WIDTH = 60;

/** Of a working directory, the newest first. */
async function sessionsOf(cwd: string, places: UserPlaces): Promise<readonly SessionFile[]> {
  const agents: readonly SessionAgent[] = ["longhaul", "claude-code"];
  const folders = new Set(agents.map((agent) => dirname(sessionPath(agent, places, cwd, "any"))));
  return (await sessionFiles(places)).filter(({ path }) => folders.has(dirname(path)));
}

/** The newest chat of the folder's project that holds a conversation. */
export async function newestSession(cwd: string, places: UserPlaces): Promise<string> {
  const newest = await latestSession({ ...places, cwd }, "longhaul");
  if (newest?.isOfProject) return newest.path;
  throw new LonghaulError("session-not-found", "This folder's project has no chat to continue.", {
    remedy: "`longhaul chat` begins one; `longhaul sessions` lists those of other folders.",
    facts: { cwd },
  });
}

export interface ChooseOptions {
  readonly places: UserPlaces;
  readonly cwd: string;
  readonly now: Date;
  /** Not this one: it is open. */
  readonly without?: string;
}

/** Undefined where nobody wants any. Sessions of Claude Code are listed too: they are gone on with as copies. */
export async function chooseSession(
  screen: Pick<Screen, "choose" | "width">,
  { places, cwd, now, without }: ChooseOptions,
): Promise<string | undefined> {
  const all = await sessionsOf(cwd, places);
  const files = all.filter(({ path }) => path !== without).slice(0, MOST_LISTED);
  if (files.length === 0) {
    throw new LonghaulError("session-not-found", "There are no other sessions of this folder.", {
      remedy: "`longhaul sessions` lists those of all folders; any can be resumed by its id.",
      facts: { cwd },
    });
  }
  const options = await Promise.all(files.map((file) => optionOf(file, now, screen.width)));
  const chosen = await screen.choose({ title: "Which session?", options });
  return files[chosen?.picked[0] ?? -1]?.path;
}

async function optionOf(
  file: SessionFile,
  now: Date,
  width: number,
): Promise<{ readonly label: string; readonly description: string }> {
  const { title, contextTokens } = await glanceAtSession(file.path, file.bytes);
  const facts = [
    file.id.slice(0, 8),
    formatAge(now.getTime() - file.modifiedAt.getTime()),
    ...(contextTokens === undefined ? [] : [`${formatShort(contextTokens)} tokens`]),
    ...(file.agent === "claude-code" ? ["Claude Code"] : []),
  ];
  const label = title ?? (await lastPrompt(file.path)) ?? "(nothing said)";
  return { label: fitText(label, Math.min(TITLE_WIDTH, width - 6)), description: facts.join(", ") };
}

/** What a file cannot tell is not worth an error in a list. */
async function lastPrompt(path: string): Promise<string | undefined> {
  const session = await resumeSession(path).catch(() => undefined);
  return session && promptsOf(session).at(-1)?.text;
}
