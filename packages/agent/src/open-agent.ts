import { randomUUID } from "node:crypto";
import { mkdir, realpath } from "node:fs/promises";
import { LonghaulError } from "@longhaul/core";
import { isTooWide, type UserPlaces, userHome } from "@longhaul/sessions";
import { type Agent, LonghaulAgent } from "./agent.ts";
import { type AgentOptions, requireAgentOptions } from "./agent-options.ts";
import { agentsFolder, besideSession, openSession } from "./agent-session.ts";
import { fingerprintOfCommandFiles } from "./permissions/deciding-files.ts";
import { Permissions } from "./permissions/permissions.ts";
import type { SharedServices } from "./shared-services.ts";
import { findSkills, skillFolders } from "./skills.ts";
import { gitRootOf } from "./tools/search/walk.ts";
import { createShells } from "./tools/shell/shells.ts";
import { createFileContents } from "./workplace/file-contents.ts";
import { pathRules } from "./workplace/path-rules.ts";

/** Opens an agent with a new or a resumed conversation. */
export async function openAgent(options: AgentOptions): Promise<Agent> {
  requireAgentOptions(options);
  const cwd = await realpath(options.cwd ?? process.cwd());
  const places: UserPlaces = options.places ?? { home: userHome(), env: process.env };
  const isWide = await isTooWide(cwd, places.home);
  if (isWide && options.permissions?.mode === "allow-all") throw tooWide(cwd);
  const ports = { now: () => new Date(), newUuid: () => randomUUID(), ...options.ports };
  const session = await openSession({ cwd, places, newUuid: ports.newUuid, session: options.session });
  // The agent may read its own output files next to the session.
  const outputs = besideSession(session.path, ".outputs");
  const allowed = [...(options.permissions?.paths ?? []), outputs, agentsFolder(session.path)];
  const services: SharedServices = {
    options,
    cwd,
    isGitRepo: (await gitRootOf(cwd)) !== undefined,
    ports,
    sessionId: session.id,
    sessionPath: session.path,
    permissions: new Permissions(options.permissions ?? {}, options.person, {
      isWideFolder: isWide,
      decidingFiles: () => fingerprintOfCommandFiles(cwd),
    }),
    isWideFolder: isWide,
    paths: pathRules({ cwd, allowed, home: places.home }),
    files: createFileContents(),
    shells: createShells(),
    skills: await findSkills(options.skillFolders ?? skillFolders(cwd, places.home)),
    outputFolder: async () => {
      await mkdir(outputs, { recursive: true, mode: 0o700 });
      return outputs;
    },
  };
  return new LonghaulAgent(services, session);
}

const tooWide = (cwd: string): LonghaulError =>
  new LonghaulError(
    "folder-too-wide",
    `Permission mode "allow-all" is not allowed in ${cwd}: this folder is or contains your home folder with your private files.`,
    {
      remedy: "Start in a project folder, or choose another permission mode.",
      facts: { cwd },
    },
  );
