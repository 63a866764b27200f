import { mkdir } from "node:fs/promises";
import type { CompactionPorts } from "../index.ts";
import type { UserPlaces } from "../node.ts";
import type { AgentOptions } from "./options.ts";
import type { Permissions } from "./permissions/permissions.ts";
import { besideSession } from "./session.ts";
import type { Skill } from "./skills/skills.ts";
import type { FileContents, PathRules, Shells } from "./workplace.ts";

/** What all agents of a session share. */
export interface House {
  readonly options: AgentOptions;
  readonly cwd: string;
  readonly places: UserPlaces;
  readonly ports: CompactionPorts;
  readonly sessionId: string;
  readonly sessionPath: string;
  readonly permissions: Permissions;
  /** The working folder is the home folder, or contains it. */
  readonly isWideFolder: boolean;
  readonly paths: PathRules;
  readonly files: FileContents;
  readonly shells: Shells;
  readonly skills: readonly Skill[];
  outputFolder(): Promise<string>;
}

/** Where outputs go that are too long for the model. */
export const outputFolderOf = (sessionPath: string): string => besideSession(sessionPath, ".outputs");

/** Made with the first output, for its owner's eyes only. */
export function outputFolderMaker(sessionPath: string): () => Promise<string> {
  const path = outputFolderOf(sessionPath);
  return async () => {
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  };
}
