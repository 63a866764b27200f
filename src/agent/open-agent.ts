import { randomUUID } from "node:crypto";
import { realpath } from "node:fs/promises";
import { LonghaulError } from "../index.ts";
import { isTooWide, type UserPlaces, userHome } from "../node.ts";
import { LonghaulAgent } from "./agent.ts";
import { agentsFolder } from "./agents/subagent.ts";
import { type House, outputFolderMaker, outputFolderOf } from "./house.ts";
import type { Agent, AgentOptions } from "./options.ts";
import { markOfDecidingFiles } from "./permissions/deciding-files.ts";
import { createPermissions } from "./permissions/permissions.ts";
import { isInGitRepository } from "./prompt/git.ts";
import { requireAgentOptions } from "./require-agent-options.ts";
import { openSession } from "./session.ts";
import { findSkills, skillFolders } from "./skills/skills.ts";
import { createShells } from "./tools/shell/shells.ts";
import { createFileContents } from "./workplace/file-contents.ts";
import { pathRules } from "./workplace/paths.ts";

/** Begins a conversation with an agent, or goes on with one. */
export async function openAgent(options: AgentOptions): Promise<Agent> {
  requireAgentOptions(options);
  const cwd = await realpath(options.cwd ?? process.cwd());
  const places: UserPlaces = options.places ?? { home: userHome(), env: process.env };
  const isWide = await isTooWide(cwd, places.home);
  if (isWide && options.permissions?.mode === "allow-all") throw tooWide(cwd);
  const ports = { now: () => new Date(), newUuid: () => randomUUID(), ...options.ports };
  const session = await openSession({ cwd, places, newUuid: ports.newUuid, session: options.session });
  // What we write beside the session is the agent's own to read.
  const own = [outputFolderOf(session.path), agentsFolder(session.path)];
  const allowed = [...(options.permissions?.paths ?? []), ...own];
  const house: House = {
    options,
    cwd,
    places,
    ports,
    sessionId: session.id,
    sessionPath: session.path,
    permissions: createPermissions(options.permissions ?? {}, options.person, {
      isWideFolder: isWide,
      decidingFiles: () => markOfDecidingFiles(cwd),
    }),
    isWideFolder: isWide,
    paths: pathRules({ cwd, allowed, home: places.home }),
    files: createFileContents(),
    shells: createShells(),
    skills: await findSkills(options.skillFolders ?? skillFolders({ cwd, home: places.home })),
    outputFolder: outputFolderMaker(session.path),
  };
  return new LonghaulAgent(house, session, await isInGitRepository(cwd));
}

const tooWide = (cwd: string): LonghaulError =>
  new LonghaulError("folder-too-wide", `Mode "allow-all" does not start in ${cwd}.`, {
    remedy:
      "This is your home folder, or it contains it: everything private of yours lies there. " +
      "Start in a project folder, or choose another permission mode.",
    facts: { cwd },
  });
