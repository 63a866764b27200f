import type { CompactionPorts } from "@longhaul/core/compaction";
import type { AgentOptions } from "./agent-options.ts";
import type { Permissions } from "./permissions/permissions.ts";
import type { Workplace } from "./workplace.ts";

/** Services and settings that all agents of a session share. */
export interface SharedServices
  extends Pick<Workplace, "cwd" | "paths" | "files" | "shells" | "skills" | "outputFolder"> {
  readonly options: AgentOptions;
  readonly isGitRepo: boolean;
  readonly ports: CompactionPorts;
  readonly sessionId: string;
  readonly sessionPath: string;
  readonly permissions: Permissions;
  /** True if the working folder is the home folder or contains it. */
  readonly isWideFolder: boolean;
}
